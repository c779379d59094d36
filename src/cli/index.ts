/**
 * The commands of the `tollgate` program, one file each. Hides how arguments are read, how help is written, and how a
 * command reaches the deployment of its settings, whether the gateway runs or not.
 */
export { runProgram } from './program.ts';
