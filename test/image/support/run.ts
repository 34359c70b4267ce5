import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs `node …` with only this environment. @returns its exit code */
export async function runToEnd(
  [program, ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number> {
  if (program !== 'node') throw new Error(`${program} is not node`);
  const child = spawn(process.execPath, args, { env, stdio: 'ignore' });
  const [code]: unknown[] = await once(child, 'exit');
  return Number(code);
}
