/** What the price of every text model in these tests makes of so many tokens: 1 credit per thousand read, 4 per thousand written. */
export function tokenCredits(inputTokens, outputTokens) {
  return (inputTokens + 4 * outputTokens) / 1000;
}
