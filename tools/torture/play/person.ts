import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_TOKEN, type Deployment } from '../deployment/deployment.ts';
import type { OperatorId } from '../plan/plan.ts';
import type { Story } from '../story.ts';

const PATIENCE_MS = 2_000;
const AGAIN_MS = 500;

/** A person who uses the admin API; it reaches every process. */
export class Person {
  readonly #deployment: Deployment;
  readonly #story: Story;

  constructor(deployment: Deployment, story: Story) {
    this.#deployment = deployment;
    this.#story = story;
  }

  /** Opens the breaker if possible; insists on setting it back to automatic, so that it does not stay open. */
  async breaker(operator: OperatorId, state: 'open' | 'auto'): Promise<void> {
    const path = `/admin/operators/${operator}/breaker`;
    await this.#do(path, { class: 'money', state }, { insists: state === 'auto' });
  }

  /** Repeated until it is certain: a hold that was not answered in time may have taken effect all the same. */
  async hold(operator: OperatorId): Promise<void> {
    await this.#do(`/admin/operators/${operator}/deliveries/hold`, {}, { insists: true });
  }

  async resume(operator: OperatorId): Promise<void> {
    await this.#do(`/admin/operators/${operator}/deliveries/resume`, {}, { insists: true });
  }

  async release(operator: OperatorId, generation: number): Promise<void> {
    await this.#do(`/admin/operators/${operator}/release`, { generation }, { insists: true });
  }

  async retry(operator: OperatorId, state: 'pending' | 'dead'): Promise<void> {
    await this.#do('/admin/deliveries/retry', { operator, state }, { insists: false });
  }

  async #do(path: string, body: object, { insists }: { readonly insists: boolean }): Promise<void> {
    const [first] = this.#deployment.processes;
    for (;;) {
      try {
        const response = await fetch(`${first?.gateway.adminUrl}${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
          signal: AbortSignal.timeout(PATIENCE_MS),
        });
        const text = await response.text();
        // 409: the operator is already in this state.
        if (response.status === 200 || response.status === 409) return;
        throw new Error(`status ${response.status} ${text}`);
      } catch (error) {
        this.#story.tell('fault', undefined, `${path} ${JSON.stringify(body)}: ${error}`);
        if (!insists) return;
      }
      await sleep(AGAIN_MS);
    }
  }
}
