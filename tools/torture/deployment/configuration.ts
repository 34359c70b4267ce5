import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { ALL_OPERATORS, CHARACTERS, type OperatorId } from '../plan/plan.ts';
import {
  CONFIRM_UNKNOWN_MS,
  CURRENCY,
  DEADLINE_MS,
  IMPATIENT_MS,
  ORIGINATE_AFTER_MS,
  OTHER_CURRENCY,
  RESERVE_MS,
  WALLET_TIMEOUT_MS,
} from '../settings.ts';
import type { Wallet } from '../world/wallet.ts';
import { FOREIGN_DIALECT } from '../world/wire.ts';

/** The service's signing secret until the first rotation. */
export const FIRST_SERVICE_SECRET = 'the-services-first-secret';

export const apiSecretOf = (operator: OperatorId) => `${operator}-api-secret-that-is-long-enough`;
export const cidOf = (operator: OperatorId) => `${operator}-key`;

export type OperatorStatus = 'active' | 'maintenance' | 'suspended';

/** A deployment's configuration folder, which changes while the gateways run. */
export class ConfigurationFolder {
  readonly path: string;
  readonly #wallets: ReadonlyMap<OperatorId, Wallet>;
  readonly #status = new Map<OperatorId, OperatorStatus>();
  readonly #generations = new Map<OperatorId, number>();
  readonly #secrets = new Map<OperatorId, readonly string[]>();
  #comment = 0;
  /** Files are written one after another: faults that begin together may change the same operator. */
  #writing: Promise<void> = Promise.resolve();

  private constructor(path: string, wallets: ReadonlyMap<OperatorId, Wallet>) {
    this.path = path;
    this.#wallets = wallets;
    for (const [operator, wallet] of wallets) this.#secrets.set(operator, wallet.secrets);
  }

  static async write(wallets: ReadonlyMap<OperatorId, Wallet>): Promise<ConfigurationFolder> {
    const path = await mkdtemp(join(tmpdir(), 'wagergate-torture-'));
    await mkdir(join(path, 'operators'));
    const folder = new ConfigurationFolder(path, wallets);
    await folder.setServiceSecrets([FIRST_SERVICE_SECRET]);
    for (const operator of ALL_OPERATORS) await folder.#write(operator);
    return folder;
  }

  async setStatus(operator: OperatorId, status: OperatorStatus): Promise<void> {
    this.#status.set(operator, status);
    await this.#write(operator);
  }

  generation(operator: OperatorId): number {
    return this.#generations.get(operator) ?? 1;
  }

  async setGeneration(operator: OperatorId, generation: number): Promise<void> {
    this.#generations.set(operator, generation);
    await this.#write(operator);
  }

  /** @param secrets the first signs what is sent to the wallet */
  async setSecrets(operator: OperatorId, secrets: readonly string[]): Promise<void> {
    this.#secrets.set(operator, secrets);
    await this.#write(operator);
  }

  /** @param secrets each of them verifies the service's requests */
  async setServiceSecrets(secrets: readonly string[]): Promise<void> {
    const text = stringify(gatewayFile(secrets));
    await this.#inTurn(() => writeAtOnce(join(this.path, 'gateway.yaml'), text));
  }

  /** Rewrites the same settings in other bytes. */
  async touch(): Promise<void> {
    this.#comment += 1;
    for (const operator of ALL_OPERATORS) await this.#write(operator);
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }

  async #write(operator: OperatorId): Promise<void> {
    await this.#inTurn(() => this.#writeNow(operator));
  }

  async #inTurn(write: () => Promise<void>): Promise<void> {
    const written = this.#writing.then(write);
    // The caller gets the error; the queue must go on.
    this.#writing = written.catch(() => undefined);
    await written;
  }

  /** Writes the state as it is when the turn comes. */
  async #writeNow(operator: OperatorId): Promise<void> {
    const path = join(this.path, 'operators', `${operator}.yaml`);
    const file = operatorFile(operator, {
      baseUrl: this.#wallets.get(operator)?.baseUrl ?? '',
      secrets: this.#secrets.get(operator) ?? [],
      status: this.#status.get(operator) ?? 'active',
      generation: this.generation(operator),
    });
    await writeAtOnce(path, `# ${this.#comment}\n${stringify(file)}`);
  }
}

/** Replaces the file in one step: the watcher must not read half of it. */
async function writeAtOnce(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
}

function gatewayFile(serviceSecrets: readonly string[]) {
  return {
    service: {
      cid: 'aggregator-key',
      secrets: serviceSecrets,
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
}

function operatorFile(
  operator: OperatorId,
  now: {
    readonly baseUrl: string;
    readonly secrets: readonly string[];
    readonly status: string;
    readonly generation: number;
  },
) {
  const character = CHARACTERS[operator];
  const { settleOnFailure, keyedOnRequestId, isForeign, isImpatient, isSpendthrift } = character;
  return {
    id: operator,
    name: operator,
    status: now.status,
    wallet: {
      baseUrl: now.baseUrl,
      allowPrivate: true,
      secrets: now.secrets,
      generation: now.generation,
      timeoutMs: WALLET_TIMEOUT_MS,
      breaker: { errorPercent: 60, minRequests: 8, windowMs: 1_000, openMs: 250 },
      ...(keyedOnRequestId ? { dialect: { stableRequestId: true } } : {}),
      ...(isForeign ? { dialect: FOREIGN_DIALECT } : {}),
      ...(isSpendthrift ? { dialect: { unknownRepeats: 'hold' } } : {}),
    },
    api: { cid: cidOf(operator), secrets: [apiSecretOf(operator)] },
    currencies: [CURRENCY, OTHER_CURRENCY],
    ...(isForeign ? { sessions: { mode: 'prefixed' } } : {}),
    ...(isImpatient ? { delivery: { horizonHours: IMPATIENT_MS / 3_600_000 } } : {}),
    settle: { onFailure: settleOnFailure },
  };
}
