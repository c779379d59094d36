/** As `Promise.all`, but throws only when every promise has settled: a result that came later would not be saved. */
export async function allSettledOrThrow<Result>(works: readonly Promise<Result>[]): Promise<Result[]> {
  const settled = await Promise.allSettled(works);
  return settled.map((work) => {
    if (work.status === 'rejected') throw work.reason;
    return work.value;
  });
}
