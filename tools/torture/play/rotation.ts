import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pause } from '../check/pauses.ts';
import type { Deployment } from '../deployment/deployment.ts';
import type { OperatorId } from '../plan/plan.ts';
import type { Person } from './person.ts';

/** A change that a process has not applied by then has failed: the process is stuck. */
const TAKEN_OVER_MS_MAX = 60_000;
const POLL_MS = 50;
/** How long a call that was signed earlier may still be under way. */
const ON_THE_WAY_MS = 1_200;

const OF_GATEWAY = /"gateway":true/;
const ofOperator = (id: OperatorId) => new RegExp(`"updated":\\[[^\\]]*"${id}"`);

/**
 * Rotates secrets while bets go on, in the steps of docs/operations.md: both are accepted, the sender changes, the
 * old one is removed. Each file has only one rotation at a time, as people would do it.
 */
export class Rotation {
  readonly #deployment: Deployment;
  /** The last rotation of each file. */
  readonly #last = new Map<string, Promise<void>>();

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
  }

  /** Rotates the service's secret. @returns whether the old secret was refused afterwards */
  async ofService(): Promise<boolean> {
    return await this.#inTurn('service', async () => {
      const { configuration, serviceKey } = this.#deployment;
      const [old, next] = [serviceKey.secret, `service-rotated-${randomUUID()}`];
      await this.#takenOver(OF_GATEWAY, () => configuration.setServiceSecrets([old, next]));
      serviceKey.secret = next;
      await sleep(ON_THE_WAY_MS);
      await this.#takenOver(OF_GATEWAY, () => configuration.setServiceSecrets([next]));
      return await this.#isRefused(old);
    });
  }

  /** Raises the generation of an operator's wallet until a person releases the bets that are held because of it. */
  async ofGeneration(operator: OperatorId, ms: number, person: Person): Promise<Pause> {
    return await this.#inTurn(operator, async () => {
      const { configuration } = this.#deployment;
      const next = configuration.generation(operator) + 1;
      const raisedMs = performance.now();
      await this.#takenOver(ofOperator(operator), () =>
        configuration.setGeneration(operator, next),
      );
      const fromMs = performance.now();
      await sleep(ms);
      const toMs = performance.now();
      await person.release(operator, next);
      return { kind: 'otherWallet', operator, fromMs, toMs, raisedMs };
    });
  }

  /** Rotates the secret of an operator's wallet. @returns whether every call at the wallet was properly signed */
  async ofWallet(operator: OperatorId): Promise<boolean> {
    return await this.#inTurn(operator, async () => {
      const { configuration } = this.#deployment;
      const wallet = this.#deployment.wallet(operator);
      const [old = ''] = wallet.secrets;
      const next = `${operator}-rotated-${randomUUID()}`;
      const change = ofOperator(operator);
      await this.#takenOver(change, () => configuration.setSecrets(operator, [old, next]));
      wallet.secrets = [old, next];
      await this.#takenOver(change, () => configuration.setSecrets(operator, [next, old]));
      await this.#takenOver(change, () => configuration.setSecrets(operator, [next]));
      await sleep(ON_THE_WAY_MS);
      wallet.secrets = [next];
      return wallet.badlySigned === 0;
    });
  }

  async #inTurn<T>(whose: string, rotate: () => Promise<T>): Promise<T> {
    const before = this.#last.get(whose);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last.set(whose, promise);
    await before;
    try {
      return await rotate();
    } finally {
      resolve();
    }
  }

  /** Writes a change and waits until every process of every gateway has applied it. */
  async #takenOver(change: RegExp, write: () => Promise<void>): Promise<void> {
    const writtenAtMs = performance.now();
    await write();
    const isTakenOver = () =>
      this.#deployment.processes.every(({ gateway }) => gateway.hasTakenOver(change, writtenAtMs));
    while (!isTakenOver()) {
      if (performance.now() - writtenAtMs > TAKEN_OVER_MS_MAX) {
        throw new Error(`a change of the configuration is not in force everywhere: ${change}`);
      }
      await sleep(POLL_MS);
    }
  }

  async #isRefused(secret: string): Promise<boolean> {
    const answers = await Promise.all(
      this.#deployment.entrances.map(({ client }) =>
        client.call('PUT', '/payment/bet', '{}', { signWith: secret }),
      ),
    );
    // 401: the signature is unknown; 0: no answer, from a process that is frozen just now.
    return answers.every(({ status }) => status === 401 || status === 0);
  }
}
