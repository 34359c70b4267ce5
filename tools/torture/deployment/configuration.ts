import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { CHARACTERS, OPERATORS, type OperatorId } from '../plan/plan.ts';
import {
  CONFIRM_UNKNOWN_MS,
  CURRENCY,
  DEADLINE_MS,
  ORIGINATE_AFTER_MS,
  RESERVE_MS,
  WALLET_TIMEOUT_MS,
} from '../settings.ts';
import type { Wallet } from '../world/wallet.ts';

export const SERVICE_SECRET = 'the-services-own-secret';

export const apiSecretOf = (operator: OperatorId) => `${operator}-api-secret-that-is-long-enough`;
export const cidOf = (operator: OperatorId) => `${operator}-key`;

export type OperatorStatus = 'active' | 'maintenance';

/** A deployment's configuration folder, which changes while the gateways run. */
export class ConfigurationFolder {
  readonly path: string;
  readonly #wallets: ReadonlyMap<OperatorId, Wallet>;
  readonly #status = new Map<OperatorId, OperatorStatus>();
  /** Files are written one after another: faults that begin together may change the same operator. */
  #writing: Promise<void> = Promise.resolve();

  private constructor(path: string, wallets: ReadonlyMap<OperatorId, Wallet>) {
    this.path = path;
    this.#wallets = wallets;
  }

  static async write(wallets: ReadonlyMap<OperatorId, Wallet>): Promise<ConfigurationFolder> {
    const path = await mkdtemp(join(tmpdir(), 'wagergate-torture-'));
    await mkdir(join(path, 'operators'));
    const folder = new ConfigurationFolder(path, wallets);
    await writeFile(join(path, 'gateway.yaml'), stringify(GATEWAY_FILE));
    for (const operator of OPERATORS) await folder.#write(operator);
    return folder;
  }

  async setStatus(operator: OperatorId, status: OperatorStatus): Promise<void> {
    this.#status.set(operator, status);
    await this.#write(operator);
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }

  async #write(operator: OperatorId): Promise<void> {
    const written = this.#writing.then(() => this.#writeNow(operator));
    // The caller gets the error; the queue must go on.
    this.#writing = written.catch(() => undefined);
    await written;
  }

  /** Writes the state as it is when the turn comes. */
  async #writeNow(operator: OperatorId): Promise<void> {
    const path = join(this.path, 'operators', `${operator}.yaml`);
    const wallet = this.#wallets.get(operator);
    if (wallet === undefined) throw new Error(`no operator ${operator}`);
    const file = operatorFile(wallet, this.#status.get(operator) ?? 'active');
    await writeAtOnce(path, stringify(file));
  }
}

/** Replaces the file in one step: the watcher must not read half of it. */
async function writeAtOnce(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
}

const GATEWAY_FILE = {
  service: {
    cid: 'aggregator-key',
    secrets: [SERVICE_SECRET],
    bonusApiUrl: 'http://127.0.0.1:9',
  },
  deadline: { totalMs: DEADLINE_MS, reserveMs: RESERVE_MS },
  delivery: {
    horizonHours: 1,
    minBackoffMs: 50,
    maxBackoffMs: 400,
    confirmUnknownAfterMs: CONFIRM_UNKNOWN_MS,
    originateRollbackAfterMs: ORIGINATE_AFTER_MS,
  },
};

function operatorFile({ operator, baseUrl, secret }: Wallet, status: OperatorStatus) {
  const { settleOnFailure, keyedOnRequestId } = CHARACTERS[operator];
  return {
    id: operator,
    name: operator,
    status,
    wallet: {
      baseUrl,
      allowPrivate: true,
      secrets: [secret],
      timeoutMs: WALLET_TIMEOUT_MS,
      breaker: { errorPercent: 60, minRequests: 8, windowMs: 1_000, openMs: 250 },
      ...(keyedOnRequestId ? { dialect: { stableRequestId: true } } : {}),
    },
    api: { cid: cidOf(operator), secrets: [apiSecretOf(operator)] },
    currencies: [CURRENCY],
    settle: { onFailure: settleOnFailure },
  };
}
