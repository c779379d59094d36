/** What Node's `assert` is to the gateway's modules that the console shares: its build puts this in its place. */
// biome-ignore lint/style/noDefaultExport: Node's module has its function there.
export default function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(message);
}
