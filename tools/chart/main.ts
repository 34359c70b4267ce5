import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parseAllDocuments, stringify } from 'yaml';
import { CHART, isTree, type Tree } from '../../test/helm/support/chart.ts';
import { renderChart } from '../../test/helm/support/render.ts';
import { EVERYTHING, OWN, SECRET } from '../../test/helm/support/values.ts';
import { run } from '../lib/command.ts';
import { programFor, versionOf } from './programs.ts';

/**
 * `npm run chart`: lints and renders the chart with the real Helm for the oldest and newest Kubernetes, and compares
 * it with the tests' renderer. Without Helm and Go it exits 0; with `--required` then 1.
 */

const VALUES: Readonly<Record<string, Tree>> = {
  'what is required': { secret: SECRET },
  'everything there is': EVERYTHING,
  "all objects of one's own": OWN,
};
const KUBERNETES = ['1.27.0', '1.35.4'];
const SCHEMAS = resolve(CHART, '../schemas/{{ .ResourceKind }}{{ .KindSuffix }}.json');

/** Values that must be refused, and the message that must be shown. */
const REFUSED: Readonly<Record<string, readonly [Tree, RegExp]>> = {
  'no database': [{}, /secret\.databaseUrl is needed/],
  'a value that there is not': [{ secret: SECRET, htpp: {} }, /htpp/],
  'too short a grace': [
    { secret: SECRET, shutdown: { terminationGracePeriodSeconds: 12 } },
    /terminationGracePeriodSeconds/,
  ],
};

async function main(): Promise<number> {
  const isRequired = process.argv.includes('--required');
  const helm = await programFor('helm');
  const kubeconform = await programFor('kubeconform');
  if (helm === undefined || kubeconform === undefined) {
    console.log(
      'The chart was not tried: there is no helm and kubeconform, and no Go to build them.',
    );
    return isRequired ? 1 : 0;
  }
  console.log(`helm ${await versionOf(helm, ['version', '--short'])}`);
  console.log(`kubeconform ${await versionOf(kubeconform, ['-v'])}`);
  const folder = await mkdtemp(join(tmpdir(), 'wagergate-chart-'));
  try {
    const chart = new Chart(helm, kubeconform, folder);
    let isGood = true;
    for (const [name, check] of chart.checks()) {
      const fault = await check();
      console.log(fault === undefined ? `ok      ${name}` : `FAILED  ${name}: ${fault}`);
      isGood &&= fault === undefined;
    }
    return isGood ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Resolves to what is wrong, or to undefined. */
type Check = () => Promise<string | undefined>;

class Chart {
  readonly #helm: string;
  readonly #kubeconform: string;
  readonly #folder: string;

  constructor(helm: string, kubeconform: string, folder: string) {
    this.#helm = helm;
    this.#kubeconform = kubeconform;
    this.#folder = folder;
  }

  checks(): readonly (readonly [string, Check])[] {
    const good = Object.entries(VALUES).flatMap(([name, values]) => [
      [`lint: ${name}`, () => this.#lint(values)] as const,
      ...KUBERNETES.flatMap((version) => [
        [`Kubernetes ${version} takes ${name}`, () => this.#conforms(values, version)] as const,
      ]),
      [`the tests' renderer agrees on ${name}`, () => this.#agrees(values)] as const,
    ]);
    const bad = Object.entries(REFUSED).map(
      ([name, [values, words]]) =>
        [`refused: ${name}`, () => this.#refuses(values, words)] as const,
    );
    return [...good, ...bad];
  }

  async #lint(values: Tree): Promise<string | undefined> {
    const file = await this.#write(values);
    const { code, stdout, stderr } = await run(this.#helm, ['lint', '--strict', CHART, '-f', file]);
    return code === 0 ? undefined : `${stdout}${stderr}`;
  }

  async #conforms(values: Tree, version: string): Promise<string | undefined> {
    const rendered = await this.#render(values, version);
    if (rendered.code !== 0) return rendered.stderr;
    const args = ['-strict', '-summary', '-schema-location', SCHEMAS, '-'];
    const { code, stdout, stderr } = await run(this.#kubeconform, args, { input: rendered.stdout });
    if (code !== 0) return `${stdout}${stderr}`;
    return /Valid: [1-9]\d*, Invalid: 0, Errors: 0, Skipped: 0/.test(stdout) ? undefined : stdout;
  }

  async #agrees(values: Tree): Promise<string | undefined> {
    const { code, stdout, stderr } = await this.#render(values, KUBERNETES.at(-1) ?? '');
    if (code !== 0) return stderr;
    const byHelm = byName(manifestsIn(stdout));
    const byTests = byName(renderChart(values));
    for (const name of new Set([...byHelm.keys(), ...byTests.keys()])) {
      if (!isDeepStrictEqual(byHelm.get(name), byTests.get(name))) return `${name} differs`;
    }
    return undefined;
  }

  async #refuses(values: Tree, words: RegExp): Promise<string | undefined> {
    const { code, stderr } = await this.#render(values, KUBERNETES.at(-1) ?? '');
    return code !== 0 && words.test(stderr) ? undefined : stderr || 'it was taken';
  }

  async #render(values: Tree, version: string) {
    const file = await this.#write(values);
    return run(this.#helm, [
      'template',
      'gw',
      CHART,
      '--namespace=betting',
      `--kube-version=${version}`,
      `--values=${file}`,
    ]);
  }

  async #write(values: Tree): Promise<string> {
    const file = join(this.#folder, 'values.yaml');
    await writeFile(file, stringify(values));
    return file;
  }
}

function manifestsIn(text: string): Tree[] {
  return parseAllDocuments(text, { version: '1.1' })
    .map((document): unknown => document.toJS())
    .filter(isTree);
}

function byName(manifests: readonly Tree[]): ReadonlyMap<string, Tree> {
  return new Map(
    manifests.map((manifest) => {
      const { kind, metadata } = manifest;
      return [`${kind}/${isTree(metadata) ? metadata.name : ''}`, manifest];
    }),
  );
}

process.exit(await main());
