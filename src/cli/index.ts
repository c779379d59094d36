/**
 * The commands of the `tollgate` program. Hides how arguments are read, how help and completions are written, how a
 * command reaches the deployment of its settings, whether the gateway runs or not, and how others reach a gateway by its
 * address. `table/` describes them all; the code of one loads when it runs: that of `work/`, `account/` and `operate/`
 * calls a gateway through `gateway/`.
 */
export { runProgram } from './program.ts';
