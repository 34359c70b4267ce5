import { isDeepStrictEqual } from 'node:util';
import type { CheckedFile } from './checked-file.ts';
import type { FolderContent } from './config-folder.ts';
import { completeOperator } from './operator-config.ts';
import { type Problem, problemIn } from './problems.ts';
import type { GatewayConfig, OperatorConfig, OperatorFile } from './schema.ts';

/** An operator in force, with the content of its file that it was made of. */
export interface OperatorInForce {
  readonly source: OperatorFile;
  readonly config: OperatorConfig;
}

export interface InForce {
  readonly gateway: GatewayConfig;
  readonly operators: ReadonlyMap<string, OperatorInForce>;
}

export interface Reconciled {
  /** What shall be in force; undefined at start without a valid `gateway.yaml`. */
  readonly next: InForce | undefined;
  readonly problems: readonly Problem[];
}

/** An operator that may come into force, and what stands in for it if another has its `api.cid`. */
interface Candidate {
  readonly file: string;
  readonly chosen: OperatorInForce | undefined;
  readonly fallback: OperatorInForce | undefined;
}

/**
 * What the folder's content makes of the configuration in force. An invalid file leaves its own
 * last good version in force and holds up nobody else. What is equal to what
 * was in force stays the same object.
 */
export function reconcile(content: FolderContent, previous: InForce | undefined): Reconciled {
  const problems = content.gateway.ok ? [] : [...content.gateway.problems];
  problems.push(...content.problems);
  const gateway = content.gateway.ok
    ? keepIdentity(content.gateway.value, previous?.gateway)
    : previous?.gateway;
  if (gateway === undefined) {
    for (const file of content.operators?.values() ?? []) {
      if (!file.ok) problems.push(...file.problems);
    }
    return { next: undefined, problems };
  }

  const candidates = new Map<string, Candidate>();
  const files = content.operators ?? new Map<string, CheckedFile<OperatorFile>>();
  for (const [id, file] of files) {
    candidates.set(id, choose(file, gateway, previous?.operators.get(id), problems));
  }
  if (content.operators === undefined) {
    // A folder that cannot be listed says nothing: nobody is removed for it.
    for (const [id, before] of previous?.operators ?? []) {
      const chosen = standing(before, gateway);
      candidates.set(id, { file: '', chosen, fallback: chosen });
    }
  }
  return { next: { gateway, operators: settleKeys(candidates, problems) }, problems };
}

/** The operator as its file has it, or its last good version; pushes what is wrong. */
function choose(
  read: CheckedFile<OperatorFile>,
  gateway: GatewayConfig,
  before: OperatorInForce | undefined,
  problems: Problem[],
): Candidate {
  const { file } = read;
  const fallback = before && standing(before, gateway);
  if (!read.ok) {
    problems.push(...read.problems);
    return { file, chosen: fallback, fallback };
  }
  const completed = completeOperator(read.value, gateway);
  if (!completed.ok) {
    problems.push(...completed.problems.map((problem) => problemIn(file, problem)));
    return { file, chosen: fallback, fallback };
  }
  const config = keepIdentity(completed.value, before?.config);
  return { file, chosen: { source: read.value, config }, fallback };
}

/** The last good version of an operator, under the gateway's settings of now where they fit. */
function standing({ source, config }: OperatorInForce, gateway: GatewayConfig): OperatorInForce {
  const completed = completeOperator(source, gateway);
  return { source, config: completed.ok ? keepIdentity(completed.value, config) : config };
}

/**
 * Sees to it that every `api.cid` belongs to one operator. Who had a key keeps it: the one whose
 * file changed steps back to its last good version, which may in turn claim a key that a third
 * one was about to take; so it goes on until all agree.
 */
function settleKeys(
  candidates: ReadonlyMap<string, Candidate>,
  problems: Problem[],
): Map<string, OperatorInForce> {
  const settled = new Map<string, OperatorInForce | undefined>();
  for (const [id, { chosen }] of candidates) settled.set(id, chosen);
  let clash = findClash(candidates, settled);
  while (clash !== undefined) {
    const { loserId, loser, winner } = clash;
    problems.push({
      file: loser.file,
      path: 'api.cid',
      reason: `is the key of ${winner.file} too: give each operator its own`,
    });
    settled.set(loserId, loser.fallback);
    clash = findClash(candidates, settled);
  }
  const operators = new Map<string, OperatorInForce>();
  for (const [id, operator] of settled) if (operator) operators.set(id, operator);
  return operators;
}

interface Clash {
  readonly loserId: string;
  readonly loser: Candidate;
  readonly winner: Candidate;
}

function findClash(
  candidates: ReadonlyMap<string, Candidate>,
  settled: ReadonlyMap<string, OperatorInForce | undefined>,
): Clash | undefined {
  const keyOf = (id: string) => settled.get(id)?.config.api.cid;
  const hadItsKey = ([id, { fallback }]: [string, Candidate]) =>
    fallback !== undefined && fallback.config.api.cid === keyOf(id);
  const order = [...candidates].sort((a, b) => Number(hadItsKey(b)) - Number(hadItsKey(a)));
  const owners = new Map<string, Candidate>();
  for (const [loserId, loser] of order) {
    const cid = keyOf(loserId);
    if (cid === undefined) continue;
    const winner = owners.get(cid);
    if (winner !== undefined) return { loserId, loser, winner };
    owners.set(cid, loser);
  }
  return undefined;
}

/** `value`, or `before` when the two are equal. */
function keepIdentity<T>(value: T, before: T | undefined): T {
  return before !== undefined && isDeepStrictEqual(value, before) ? before : value;
}
