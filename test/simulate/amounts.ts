export function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}

export function smaller(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
