import { at, isTree, type Tree } from './chart.ts';

/** @throws Error if there is none */
export function named(manifests: readonly Tree[], kind: string, name: string): Tree {
  const found = manifests.find((one) => one.kind === kind && at(one, 'metadata.name') === name);
  if (found === undefined) throw new Error(`no ${kind} ${name}`);
  return found;
}

/** What a Secret holds, decoded. */
export function secretsIn(secret: Tree): Readonly<Record<string, string>> {
  const data = secret.data;
  return Object.fromEntries(
    Object.entries(isTree(data) ? data : {}).map(([key, value]) => [
      key,
      Buffer.from(String(value), 'base64').toString(),
    ]),
  );
}

/** The first container of a workload's pods. */
export function containerOf(workload: Tree): unknown {
  const containers = at(workload, 'spec.template.spec.containers');
  return Array.isArray(containers) ? containers[0] : undefined;
}
