/** Text in this format, translated or native, over any wire: a cloud serves it under its own addresses and credentials. */
export { chatOver } from './chat.ts';
export { nativeOver } from './native.ts';
export { blockOf, faultRules, modelPath, toCall, usageOf, wire } from './wire.ts';
