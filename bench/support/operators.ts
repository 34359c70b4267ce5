import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { OperatorAccess } from './players.ts';

/** A configuration folder of its own, removed at the end. */
export interface OperatorsFolder extends AsyncDisposable {
  readonly folder: string;
  readonly serviceSecret: string;
  /** Each operator's access to the gateway, by its id. */
  readonly access: ReadonlyMap<string, OperatorAccess>;
}

export interface OperatorsOptions {
  readonly walletUrl: string;
  readonly bonusApiUrl?: string;
  /** Default: a new random one. */
  readonly serviceSecret?: string;
  /** Merged into an operator's own settings, by id. */
  readonly more?: Readonly<Record<string, { readonly wallet?: object; readonly bonuses?: object }>>;
}

export const AGGREGATOR = 'aggregator-key';

/** Writes operators with these ids; everything not given has its default. */
export async function writeOperators(
  ids: readonly string[],
  options: OperatorsOptions,
): Promise<OperatorsFolder> {
  const { walletUrl, bonusApiUrl = 'http://127.0.0.1:9', more = {} } = options;
  const folder = await mkdtemp(join(tmpdir(), 'wagergate-bench-config-'));
  await mkdir(join(folder, 'operators'));
  const { serviceSecret = newSecret() } = options;
  const service = { cid: AGGREGATOR, secrets: [serviceSecret], bonusApiUrl };
  await writeFile(join(folder, 'gateway.yaml'), stringify({ service }));
  const access = new Map(ids.map((id) => [id, { cid: `${id}-key`, secret: newSecret() }]));
  for (const [id, { cid, secret }] of access) {
    const wallet = { baseUrl: walletUrl, allowPrivate: true, secrets: [newSecret()] };
    const operator = {
      ...{ id, name: id, currencies: ['USD'] },
      ...more[id],
      wallet: { ...wallet, ...more[id]?.wallet },
      api: { cid, secrets: [secret] },
    };
    await writeFile(join(folder, 'operators', `${id}.yaml`), stringify(operator));
  }
  const remove = () => rm(folder, { recursive: true, force: true });
  return { folder, serviceSecret, access, [Symbol.asyncDispose]: remove };
}

export function newSecret(): string {
  return randomBytes(24).toString('base64url');
}
