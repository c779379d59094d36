/** Up to here a name stays in one piece; a longer one may break anywhere. */
const WHOLE_CHARS_MAX = 26;

/** The name of a model or an upstream. */
export function Name({ children }: { readonly children: string }) {
  return <span className={children.length <= WHOLE_CHARS_MAX ? 'mono whole' : 'mono'}>{children}</span>;
}
