/** Price and ledger joined: who is given credits, and what a request costs. */
export { grantCredits } from './grant-credits.ts';
