/** This vendor's own codes, by what callers write. It knows few countries, and refuses a code that it does not know. */
const CODES: ReadonlyMap<string, string> = new Map([
  ['en_us', 'en_us'],
  ['en_au', 'en_au'],
  ['en_gb', 'en_uk'],
  ['en_uk', 'en_uk'],
  ['de_ch', 'de_ch'],
  ['jv', 'jw'],
]);

/** `pt-BR` is asked for as `pt`. */
export function toVendorCode(language: string): string {
  const code = language.toLowerCase().replaceAll('-', '_');
  const [tongue = ''] = code.split('_');
  return CODES.get(code) ?? CODES.get(tongue) ?? tongue;
}

/** As ISO has it. */
export function toIsoCode(vendorCode: string): string {
  const [tongue = ''] = vendorCode.toLowerCase().split(/[-_]/);
  return tongue === 'jw' ? 'jv' : tongue;
}
