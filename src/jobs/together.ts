/** As `Promise.all`, but nothing is still going on when it throws: what comes late would be written by nobody. */
export async function together<Result>(works: readonly Promise<Result>[]): Promise<Result[]> {
  const settled = await Promise.allSettled(works);
  return settled.map((work) => {
    if (work.status === 'rejected') throw work.reason;
    return work.value;
  });
}
