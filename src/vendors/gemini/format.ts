/** The vendor's format over any wire, for a cloud that serves it under its own addresses and credentials. */
export { chatOver } from './chat.ts';
export { imageOver } from './media/image.ts';
export { speechOver } from './media/speech.ts';
export { nativeOver } from './native.ts';
export { faultRules } from './wire.ts';
