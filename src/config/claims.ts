import type { VariableSources } from './checked-file.ts';
import type { OperatorInForce } from './in-force.ts';
import { type Problem, pathText } from './problems.ts';
import type { GatewayConfig } from './schema.ts';

/** An operator that may come into force, and what stands in for it if another has what it claims. */
export interface OperatorCandidate {
  readonly file: string;
  readonly chosen: OperatorInForce | undefined;
  readonly fallback: OperatorInForce | undefined;
}

/** Whose claims come before every operator's. */
export interface GatewayClaims {
  readonly gateway: GatewayConfig;
  readonly gatewayVariables: VariableSources;
  readonly ownSecrets: ReadonlyMap<string, string>;
}

/** Something that only one owner may have. */
interface Claim {
  /** What is claimed; never shown, it may hold a secret. */
  readonly key: string;
  readonly owner: string;
  /** The setting that claims it; empty for the file as a whole. */
  readonly path: string;
  /** `shared`: several may, unless it is the exclusive claim of another. */
  readonly kind: 'exclusive' | 'shared';
  /** Completes "<path> …", given who has it. */
  readonly says: (owner: string) => string;
}

interface Claimed extends Claim {
  /** An operator's id; undefined for the gateway, which never steps back. */
  readonly id: string | undefined;
  readonly file: string;
  /** It is in force already: who has something keeps it. */
  readonly had: boolean;
}

export interface SettledClaims {
  readonly operators: ReadonlyMap<string, OperatorInForce>;
  readonly problems: readonly Problem[];
}

/**
 * Sees to it that every `api.cid` and every secret belongs to one owner. Who had it keeps it: the one
 * whose file changed steps back to its last good version, which may in turn claim what a third one
 * was about to take; so it goes on until all agree. What was in force on both sides stays in force,
 * and is told as a problem.
 */
export function settleClaims(
  gateway: GatewayClaims,
  candidates: ReadonlyMap<string, OperatorCandidate>,
): SettledClaims {
  const problems: Problem[] = [];
  const tolerated = new Set<string>();
  const settled = new Map<string, OperatorInForce | undefined>();
  for (const [id, { chosen }] of candidates) settled.set(id, chosen);
  const first = gatewayClaims(gateway);
  for (;;) {
    const clash = findClash([...first, ...operatorClaims(candidates, settled)], tolerated);
    if (clash === undefined) break;
    const { loser, winner } = clash;
    problems.push({ file: loser.file, path: loser.path, reason: loser.says(winner.file) });
    const candidate = candidates.get(loser.id ?? '');
    const before = candidate?.fallback;
    const stepsBack = settled.get(loser.id ?? '')?.config !== before?.config;
    if (stepsBack && loser.id !== undefined) settled.set(loser.id, before);
    else tolerated.add(nameOf(loser));
  }
  const operators = new Map<string, OperatorInForce>();
  for (const [id, operator] of settled) if (operator) operators.set(id, operator);
  return { operators, problems };
}

interface Clash {
  readonly loser: Claimed;
  readonly winner: Claimed;
}

function findClash(claims: readonly Claimed[], tolerated: ReadonlySet<string>): Clash | undefined {
  const order = [...claims].sort((a, b) => Number(b.had) - Number(a.had));
  const standing = new Map<string, Claimed[]>();
  for (const loser of order) {
    if (tolerated.has(nameOf(loser))) continue;
    const others = standing.get(loser.key) ?? [];
    const winner = others.find(
      (other) =>
        other.owner !== loser.owner && (other.kind === 'exclusive' || loser.kind === 'exclusive'),
    );
    if (winner !== undefined) return { loser, winner };
    others.push(loser);
    standing.set(loser.key, others);
  }
  return undefined;
}

function nameOf({ id, path, key }: Claimed): string {
  return JSON.stringify([id, path, key]);
}

function gatewayClaims({ gateway, gatewayVariables, ownSecrets }: GatewayClaims): Claimed[] {
  const { cid, secrets } = gateway.service;
  const own = [...ownSecrets].map(([name, value]) => ({
    ...secretClaim(value, name, name),
    file: name,
  }));
  const account = accountOf(cid);
  const fromFile = [
    ...secrets.map((secret, at) => secretClaim(secret, account, `service.secrets[${at}]`)),
    ...variableClaims(gatewayVariables, () => account),
  ].map((claim) => ({ ...claim, file: 'gateway.yaml' }));
  return [...own, ...fromFile].map((claim) => ({ ...claim, id: undefined, had: true }));
}

function operatorClaims(
  candidates: ReadonlyMap<string, OperatorCandidate>,
  settled: ReadonlyMap<string, OperatorInForce | undefined>,
): Claimed[] {
  return [...candidates].flatMap(([id, { file, fallback }]) => {
    const had = new Set(claimsOf(id, fallback).map(({ key }) => key));
    return claimsOf(id, settled.get(id)).map((claim) => ({
      ...claim,
      id,
      file: file === '' ? `operators/${id}` : file,
      had: had.has(claim.key),
    }));
  });
}

function claimsOf(id: string, operator: OperatorInForce | undefined): readonly Claim[] {
  if (operator === undefined) return [];
  const { wallet, api, bonuses } = operator.config;
  const { upstream } = bonuses;
  const account = upstream === undefined ? id : accountOf(upstream.cid);
  const all = (secrets: readonly string[], owner: string, path: string) =>
    secrets.map((secret, at) => secretClaim(secret, owner, `${path}[${at}]`));
  return [
    {
      key: `cid ${api.cid}`,
      owner: id,
      path: 'api.cid',
      kind: 'exclusive',
      says: (owner) => `is the key of ${owner} too: give each operator its own`,
    },
    ...all(wallet.secrets, id, 'wallet.secrets'),
    ...all(api.secrets, id, 'api.secrets'),
    ...all(upstream?.secrets ?? [], account, 'bonuses.upstream.secrets'),
    ...variableClaims(operator.variables, ([room]) => (room === 'bonuses' ? account : id)),
  ];
}

/** Whoever has the secrets of a partner account at the service is that account. */
function accountOf(cid: string): string {
  return `account ${cid}`;
}

function secretClaim(secret: string, owner: string, path: string): Claim {
  return {
    key: `secret ${secret}`,
    owner,
    path,
    kind: 'exclusive',
    says: (other) => `is a secret of ${other} too: give each its own`,
  };
}

/** One's secret must not reach another's wallet by a header or an address that names it. */
function variableClaims(
  { secrets, others }: VariableSources,
  ownerOf: (path: readonly string[]) => string,
): Claim[] {
  const claim = (source: string, owner: string, path: string, kind: Claim['kind']): Claim => ({
    key: `source ${source}`,
    owner,
    path,
    kind,
    says: (other) => `takes ${source}, which belongs to ${other}: give each its own`,
  });
  return [
    ...[...secrets].map(([source, path]) =>
      claim(source, ownerOf(path), pathText(path.map(asIndex)), 'exclusive'),
    ),
    ...[...others].map((source) => claim(source, ownerOf([]), '', 'shared')),
  ];
}

function asIndex(part: string): string | number {
  return /^\d+$/.test(part) ? Number(part) : part;
}
