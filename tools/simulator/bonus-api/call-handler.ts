import type { ServerResponse } from 'node:http';
import type { BonusMethod } from '../../../src/bonuses/method-names.ts';
import { Gates } from '../gates.ts';
import type { WireAnswer } from '../wallet/answers.ts';
import { Changes } from '../wallet/changes.ts';
import { send, sendBadly } from '../wallet/delivery.ts';
import { MisbehaviourRules } from '../wallet/misbehaviour.ts';
import { answerTo, type TemplateOrder } from './answers.ts';
import type { BonusBooks } from './books.ts';
import { type BonusMisbehaviour, effectOf } from './misbehaviour.ts';
import type { BonusCall } from './requests.ts';

/** The answer to a call that took no effect; nobody is meant to read it. */
const NOTHING_DONE: WireAnswer = { status: 200, body: '{}' };

/** Holds calls at gates, executes them and answers them, well or badly. */
export class BonusCallHandler {
  readonly misbehaviours = new MisbehaviourRules<BonusMisbehaviour, BonusMethod>();
  readonly gates = new Gates<BonusMethod>();
  readonly changes = new Changes();
  readonly #books: BonusBooks;
  readonly #order: TemplateOrder;
  #late: BonusCall[] = [];

  constructor(books: BonusBooks, order: TemplateOrder) {
    this.#books = books;
    this.#order = order;
  }

  /** Serves one call to its end. A caller that hangs up meanwhile does not change the books. */
  async serve(call: BonusCall, response: ServerResponse): Promise<void> {
    const { method } = call;
    // Chosen on arrival: how long a gate holds a call must not change which rule applies to it.
    const misbehaviour = this.misbehaviours.take(method);
    this.changes.notify();
    await this.gates.pass(method, 'before');
    const answer = this.#answer(call, misbehaviour);
    this.changes.notify();
    await this.gates.pass(method, 'after');
    if (misbehaviour === undefined) send(response, answer);
    else await sendMisbehaving(response, misbehaviour, answer, method);
  }

  /** Executes the calls that were put off, in order of arrival. @returns how many calls */
  applyLate(): number {
    const due = this.#late;
    this.#late = [];
    for (const call of due) answerTo(call, this.#books, this.#order);
    this.changes.notify();
    return due.length;
  }

  #answer(call: BonusCall, misbehaviour: BonusMisbehaviour | undefined): WireAnswer {
    const effect = misbehaviour === undefined ? 'applied' : effectOf(misbehaviour);
    if (effect === 'applied') return answerTo(call, this.#books, this.#order);
    if (effect === 'later') this.#late.push(call);
    return NOTHING_DONE;
  }
}

function sendMisbehaving(
  response: ServerResponse,
  misbehaviour: BonusMisbehaviour,
  answer: WireAnswer,
  method: string,
): Promise<void> {
  switch (misbehaviour.kind) {
    case 'brokenJson': {
      const body = answer.body.slice(0, Math.ceil(answer.body.length / 2));
      return Promise.resolve(send(response, { ...answer, body }));
    }
    case 'rewrite':
      return Promise.resolve(send(response, { ...answer, body: misbehaviour.body(answer.body) }));
    default:
      return sendBadly(response, misbehaviour, answer, '', `/bonuses/${method}`);
  }
}
