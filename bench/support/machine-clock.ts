/** Milliseconds of a clock that only ever grows and is the same in all processes of a machine. */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
