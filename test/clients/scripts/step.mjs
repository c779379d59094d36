/** Prints what one call of a library came to, as a line that test/clients/support/steps.ts reads. */
export async function step(call, work) {
  try {
    console.log(JSON.stringify({ call, value: await work() }));
  } catch (error) {
    console.log(JSON.stringify({ call, error: error?.stack ?? String(error) }));
  }
}
