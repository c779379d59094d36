/** The vendor's format over any wire, for a cloud that serves it under its own addresses and credentials. */
export { chatOver } from './chat.ts';
export { nativeOver } from './native.ts';
export { faultRules } from './wire.ts';
