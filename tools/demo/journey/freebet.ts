import { systemClock } from '../../../src/domain/clock.ts';
import { parseJsonObject } from '../../../src/protocol/json.ts';
import type { CallResult } from '../../simulator/signed-client.ts';
import { NotAsPromised } from '../narrator.ts';
import { settle } from './moves.ts';
import { answerOf, balanceMoved, balanceOf, money, nameOf, type Scene } from './scene.ts';

const STAKE = '5.00';
/** A freebet pays its winnings without the stake: 5.00 at odds of 1.2. */
const WINNINGS = '1.00';
const DAY_SECONDS = 86_400;
/** Ids that the service has never assigned. */
const NO_TEMPLATE = 7;
const NO_BONUS = 8;

interface Freebet {
  readonly templateId: number;
  readonly bonusId: number;
}

/** A freebet from template to settled bet: alpha uses its own key and ids, and beta sees none of it (I8). */
export async function freebet(scene: Scene): Promise<void> {
  const templateId = await createTemplate(scene);
  const bonusId = await issue(scene, templateId);
  const bet = await placeWith(scene, { templateId, bonusId });
  const won = { resultType: 'won', amount: WINNINGS, moves: WINNINGS } as const;
  await settle(scene, scene.players.anna, bet, won);
  await readBonus(scene, bonusId);
  await tryFromOutside(scene, { templateId, bonusId });
}

async function createTemplate({ narrator, operators }: Scene): Promise<number> {
  const now = Math.floor(systemClock.nowMs() / 1000);
  const { id } = await narrator.step('alpha', 'creates a freebet template', async () => {
    const answer = await operators.alpha.bonuses('templates/add', {
      name: 'Welcome freebet',
      type: 'freebet_standart',
      enable: true,
      betCount: 1,
      stage: 3,
      fromTime: now - DAY_SECONDS,
      toTime: now + 30 * DAY_SECONDS,
      daysToUse: 7,
      betAmount: 5,
      maxWin: 100,
      currency: 'USD',
      minSelection: 1,
      maxSelection: 2,
      minOdd: 1.1,
      maxOdd: 3,
      disciplines: ['fifa'],
    });
    const id = answer.json?.id;
    if (answer.status !== 200 || typeof id !== 'number') throw unexpected('a template', answer);
    return { came: `template ${id} of ${text(answer, 'cid', 'alpha-key')}`, ms: answer.ms, id };
  });
  return id;
}

async function issue(scene: Scene, templateId: number): Promise<number> {
  const { narrator, operators, bonusApi, players } = scene;
  const { anna } = players;
  const { id } = await narrator.step('alpha', `issues it to ${anna.user}`, async () => {
    const answer = await operators.alpha.bonuses('bonus/applyBatch', {
      templateId,
      playersData: [
        { userId: anna.user, currency: 'USD', betAmount: 5, betCount: 1, forceActivated: true },
      ],
    });
    const item = parsed(answer)?.object('items');
    const id = Number(Object.keys(item?.value ?? {})[0]);
    const bonus = item?.object(String(id));
    if (answer.status !== 200 || bonus?.value.userId !== anna.user) {
      throw unexpected(`a bonus of ${anna.user}`, answer);
    }
    // The service must know her by the id in its callbacks; otherwise the bonus is somebody else's.
    const known = bonusApi.bonus(id)?.userId;
    if (known !== anna.userId) throw new NotAsPromised(`issued to ${anna.userId}`, `${known}`);
    return { came: `bonus ${id}, ${bonus.value.status}`, ms: answer.ms, id };
  });
  await narrator.step('alpha', `puts up ${money(STAKE, anna.currency)} for it`, async () => {
    const before = balanceOf(anna);
    anna.wallet.deposit(anna.user, anna.currency, STAKE);
    return { came: balanceMoved(anna, before, STAKE) };
  });
  return id;
}

async function placeWith(scene: Scene, { templateId, bonusId }: Freebet): Promise<string> {
  const { narrator, service, players } = scene;
  const { anna } = players;
  const doing = `place bet ${money(STAKE, anna.currency)}, the freebet`;
  const { transactionId } = await narrator.step(nameOf(anna), doing, async () => {
    const before = balanceOf(anna);
    const request = { ...anna, amount: STAKE, bonusId, bonusTemplateId: templateId };
    const { kind, result, transactionId } = await service.place(request);
    if (kind !== 'accepted') throw new NotAsPromised('200', answerOf(result));
    const sent = anna.wallet.requests.at(-1)?.body;
    const message = sent && parseJsonObject(sent);
    const fields = ['bonusId', 'bonusTemplateId', 'bonusAmount'].map((name) =>
      message?.rawOf(name),
    );
    const expected = [bonusId, templateId, STAKE].join(', ');
    if (fields.join(', ') !== expected) throw new NotAsPromised(expected, fields.join(', '));
    const balance = balanceMoved(anna, before, `-${STAKE}`);
    return { came: `the wallet sees the bonus, ${balance}`, ms: result.ms, transactionId };
  });
  return transactionId;
}

async function readBonus({ narrator, operators }: Scene, bonusId: number): Promise<void> {
  await narrator.step('alpha', 'reads the bonus', async () => {
    const answer = await operators.alpha.bonuses('bonus', { bonusId });
    const user = text(answer, 'userId', 'anna');
    return { came: `${text(answer, 'status', 'done')}, used by ${user}`, ms: answer.ms };
  });
}

/** Another operator's bonus must look exactly as if it did not exist. */
async function tryFromOutside(
  { narrator, operators }: Scene,
  { templateId, bonusId }: Freebet,
): Promise<void> {
  const { beta } = operators;
  await narrator.step('beta', "asks for alpha's template", async () =>
    sameAsMissing(
      await beta.bonuses('template', { templateId }),
      await beta.bonuses('template', { templateId: NO_TEMPLATE }),
    ),
  );
  await narrator.step('beta', "asks for alpha's bonus", async () =>
    sameAsMissing(
      await beta.bonuses('bonus', { bonusId }),
      await beta.bonuses('bonus', { bonusId: NO_BONUS }),
    ),
  );
}

function sameAsMissing(foreign: CallResult, missing: CallResult): { came: string; ms: number } {
  if (foreign.status !== 404) throw unexpected('404', foreign);
  if (missing.status !== 404 || missing.body !== foreign.body) {
    throw new NotAsPromised(`${answerOf(missing)}, as for a missing one`, answerOf(foreign));
  }
  return { came: '404, word for word as for a missing one', ms: foreign.ms };
}

/** A member of a good answer. @throws NotAsPromised if it has another value */
function text(answer: CallResult, name: string, expected: string): string {
  if (answer.status !== 200 || answer.json?.[name] !== expected) {
    throw unexpected(`${name} ${expected}`, answer);
  }
  return expected;
}

function parsed(answer: CallResult) {
  return answer.status === 200 ? parseJsonObject(Buffer.from(answer.body)) : undefined;
}

function unexpected(expected: string, answer: CallResult): NotAsPromised {
  return new NotAsPromised(expected, answerOf(answer));
}
