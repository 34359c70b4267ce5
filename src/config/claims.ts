import { type Claimed, ClaimIndex, type SoleClaim } from './claim-index.ts';
import type { VariableSources } from './folder/checked-file.ts';
import type { OperatorInForce } from './in-force.ts';
import { type Problem, pathText } from './problems.ts';
import type { GatewayConfig } from './schema/schema.ts';

/** More than the claims that a file of 64 KiB can hold, and more than there are operators. */
const RANKS_OF_ONE = 2 ** 20;

/** An operator's new version, and the version to fall back to if another owner has what the new one claims. */
export interface OperatorCandidate {
  readonly file: string;
  readonly chosen: OperatorInForce | undefined;
  readonly fallback: OperatorInForce | undefined;
}

/** The gateway's claims, which take precedence over every operator's. */
export interface GatewayClaims {
  readonly gateway: GatewayConfig;
  readonly gatewayVariables: VariableSources;
  readonly ownSecrets: ReadonlyMap<string, string>;
}

export interface SettledClaims {
  readonly operators: ReadonlyMap<string, OperatorInForce>;
  readonly problems: readonly Problem[];
}

/**
 * Makes every `api.cid` and secret belong to one owner. The previous owner keeps it, the changed file falls back
 * to its last good version, until there is no conflict. One between versions in force is reported.
 */
export function settleClaims(
  gateway: GatewayClaims,
  candidates: ReadonlyMap<string, OperatorCandidate>,
): SettledClaims {
  const problems: Problem[] = [];
  const places = new Map([...candidates.keys()].map((id, at) => [id, at + 1]));
  const settled = new Map<string, OperatorInForce | undefined>();
  const claimed = new Map<string, readonly Claimed[]>();
  const index = new ClaimIndex();
  const settle = (id: string, candidate: OperatorCandidate, as: OperatorInForce | undefined) => {
    index.remove(claimed.get(id) ?? []);
    const claims = operatorClaims(id, candidate, as, places.get(id) ?? 0);
    index.add(claims);
    claimed.set(id, claims);
    settled.set(id, as);
  };
  index.add(gatewayClaims(gateway));
  for (const [id, candidate] of candidates) settle(id, candidate, candidate.chosen);
  for (let clash = index.firstClash(); clash !== undefined; clash = index.firstClash()) {
    const { loser, winner } = clash;
    problems.push({ file: loser.file, path: loser.path, reason: loser.says(winner.file) });
    const { id = '' } = loser;
    const candidate = candidates.get(id);
    const stepsBack = settled.get(id)?.config !== candidate?.fallback?.config;
    if (stepsBack && candidate !== undefined) settle(id, candidate, candidate.fallback);
    else index.remove([loser]);
  }
  const operators = new Map<string, OperatorInForce>();
  for (const [id, operator] of settled) if (operator) operators.set(id, operator);
  return { operators, problems };
}

/** Previous owners come first; then the gateway, and then the operators in order. */
function rankOf(had: boolean, place: number, at: number): number {
  return (had ? 0 : RANKS_OF_ONE * RANKS_OF_ONE) + place * RANKS_OF_ONE + at;
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
  return [...own, ...fromFile].map((claim, at) => ({
    ...claim,
    id: undefined,
    rank: rankOf(true, 0, at),
  }));
}

function operatorClaims(
  id: string,
  { file, fallback }: OperatorCandidate,
  as: OperatorInForce | undefined,
  place: number,
): Claimed[] {
  const claims = claimsOf(id, as);
  // Most operators have not changed.
  const before = as === fallback ? claims : claimsOf(id, fallback);
  const had = new Set(before.map(({ key }) => key));
  return claims.map((claim, at) => ({
    ...claim,
    id,
    file: file === '' ? `operators/${id}` : file,
    rank: rankOf(had.has(claim.key), place, at),
  }));
}

function claimsOf(id: string, operator: OperatorInForce | undefined): readonly SoleClaim[] {
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

/** The owner of a partner account's secrets is the account, which several operators may share. */
function accountOf(cid: string): string {
  return `account ${cid}`;
}

function secretClaim(secret: string, owner: string, path: string): SoleClaim {
  return {
    key: `secret ${secret}`,
    owner,
    path,
    kind: 'exclusive',
    says: (other) => `is a secret of ${other} too: give each its own`,
  };
}

/** An operator's secret must not reach another's wallet because a header or an address there names its variable. */
function variableClaims(
  { secrets, others }: VariableSources,
  ownerOf: (path: readonly string[]) => string,
): SoleClaim[] {
  const claim = (
    source: string,
    owner: string,
    path: string,
    kind: SoleClaim['kind'],
  ): SoleClaim => ({
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
