/** Pictures and speech that a model of this format generates as parts of its answer, over any wire. */
export { dataIn } from './generated.ts';
export { imageOver } from './image.ts';
export { speechOver } from './speech.ts';
