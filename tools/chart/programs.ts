import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isOnPath, run, runOrFail } from '../lib/command.ts';

/** The programs that check the chart, as Go modules. */
const MODULES = {
  helm: 'helm.sh/helm/v3/cmd/helm@v3.22.0',
  kubeconform: 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0',
} as const;

export type Program = keyof typeof MODULES;

/** `npm ci` removes it. */
const BUILT = resolve(import.meta.dirname, '../../node_modules/.cache/wagergate/go');

/**
 * The path of a program: on `PATH`, or built once from its Go module; undefined without Go.
 * @throws Error when it cannot be built
 */
export async function programFor(name: Program): Promise<string | undefined> {
  if (isOnPath(name)) return name;
  const built = join(BUILT, name);
  if (existsSync(built)) return built;
  if (!isOnPath('go')) return undefined;
  console.log(`${name} is built from ${MODULES[name]}; this takes a minute or two.`);
  await runOrFail('env', [
    `GOBIN=${BUILT}`,
    'GOFLAGS=-buildvcs=false',
    'go',
    'install',
    MODULES[name],
  ]);
  return built;
}

/** The first line of a program's version output. */
export async function versionOf(program: string, args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run(program, args);
  return `${stdout}${stderr}`.trim().split('\n')[0] ?? '';
}
