import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../../..');

export interface Instruction {
  readonly name: string;
  readonly args: string;
}

export interface Stage {
  readonly base: string;
  readonly alias: string | undefined;
  readonly instructions: readonly Instruction[];
}

export interface Copy {
  readonly from: string | undefined;
  readonly sources: readonly string[];
  readonly target: string;
}

/** The stages of the repository's Dockerfile, in order, with the defaults of build arguments filled in. */
export function readStages(): readonly Stage[] {
  const text = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n/g, ' ');
  const stages: { base: string; alias: string | undefined; instructions: Instruction[] }[] = [];
  const defaults = new Map<string, string>();
  for (const line of text.split('\n').filter((one) => one.trim() !== '')) {
    const [, name = '', rest = ''] = /^\s*([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (name === '') throw new Error(`not an instruction: ${line}`);
    const args = rest.trim();
    if (name === 'FROM') {
      const [base = '', , alias] = args.split(/\s+/);
      const image = base.replace(/\$\{(\w+)\}/, (_, key: string) => defaults.get(key) ?? '');
      stages.push({ base: image, alias, instructions: [] });
    } else if (stages.length === 0) {
      const [key = '', value = ''] = args.split('=');
      defaults.set(key, value);
    } else {
      stages.at(-1)?.instructions.push({ name, args });
    }
  }
  return stages;
}

export function copiesOf(stage: Stage): readonly Copy[] {
  return argsOf(stage, 'COPY').map((args) => {
    const words = args.split(/\s+/);
    const flag = words[0]?.startsWith('--from=') ? words.shift() : undefined;
    const target = words.pop() ?? '';
    return { from: flag?.slice('--from='.length), sources: words, target };
  });
}

export function argsOf(stage: Stage, name: string): readonly string[] {
  return stage.instructions.filter((one) => one.name === name).map((one) => one.args);
}

/** Whether the build context contains a path: the last matching line of `.dockerignore` decides. */
export function contextFilter(): (path: string) => boolean {
  const rules = readFileSync(join(ROOT, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => ({ keeps: line.startsWith('!'), pattern: line.replace(/^!/, '') }));
  return (path) => {
    let kept = true;
    for (const { keeps, pattern } of rules) {
      if (pattern === '*' || path === pattern || path.startsWith(`${pattern}/`)) kept = keeps;
    }
    return kept;
  };
}
