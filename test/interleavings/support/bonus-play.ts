import { applyBatch } from '../../../src/bonuses/methods/apply-batch.ts';
import { createTemplate } from '../../../src/bonuses/methods/create-template.ts';
import type { BonusResult } from '../../../src/bonuses/outcome.ts';
import { closeLeftOpen, readGrants } from '../../../src/bonuses/read-back/read-grants.ts';
import { readTemplates } from '../../../src/bonuses/read-back/read-templates.ts';
import { GatewayError } from '../../../src/domain/errors.ts';
import { batchBody, objectOf, templateBody } from '../../bonuses/support/bonus-gateway.ts';
import { type BonusRun, type BonusWorld, OPERATORS, type OperatorId } from './bonus-world.ts';
import type { Course } from './explore.ts';
import { Gates } from './gates.ts';

/** What an operator asks for: a template by its name, or bonuses of a template that is there, for some players. */
export type Asked = `${OperatorId} makes ${string}` | `${OperatorId} gives ${string}`;
/** What the read-back does, and what goes by. */
export type Duty =
  | 'looks for templates'
  | 'looks for bonuses'
  | 'closes'
  | 'time passes'
  | 'the service catches up';

export interface BonusScenario {
  /** Each is its own process, which performs its acts one after another. */
  readonly actors: readonly (readonly (Asked | Duty)[])[];
  /** How many steps may fail. */
  readonly faults: number;
}

interface Told {
  readonly asked: Asked;
  readonly from: number;
  readonly to: number;
  readonly status: number;
  readonly body: string;
}

interface Life {
  readonly run: BonusRun;
  readonly told: Told[];
  readonly templates: Record<OperatorId, number>;
  moment: number;
}

/** A person decides, or the read-back comes to an end, in so many rounds. */
const ROUNDS_MAX = 15;

/** Plays one order. @returns what was wrong */
export async function playBonuses(
  world: BonusWorld,
  { actors, faults }: BonusScenario,
  course: Course,
): Promise<readonly string[]> {
  const run = world.run();
  const life: Life = { run, told: [], templates: { alpha: 0, beta: 0 }, moment: 0 };
  for (const id of OPERATORS) {
    const made = await createTemplate(
      run.reading,
      run.call(id, templateBody({ name: `Of ${id}` })),
    );
    life.templates[id] = Number(objectOf(JSON.parse(made.answer.body)).id);
  }
  const problems: string[] = [];
  const gates = new Gates(faults, (actor) => run.ended(actor));
  for (const [index, acts] of actors.entries()) {
    gates.start(`${'ABCD'[index]}`, async () => {
      for (const act of acts) {
        await perform(life, act).catch((error: unknown) => problems.push(`${act}: ${error}`));
      }
    });
  }
  await gates.settled();
  for (let move = course.next(gates); move !== undefined; move = course.next(gates)) {
    life.moment += 1;
    await gates.take(move);
  }
  gates.close();
  if (course.isKnown) return [];
  const asked = new Set(actors.flat().filter((act) => isAsked(act)));
  await heal(life, [...asked]);
  problems.push(...(await findingsOf(life, [...asked])));
  const story = life.told.map(
    ({ asked: what, from, to, status, body }) =>
      `${what} ${from}-${to}: ${status} ${body.slice(0, 160)}`,
  );
  return problems.map((why) => [why, ...story].join('\n'));
}

function isAsked(act: Asked | Duty): act is Asked {
  return act.includes(' makes ') || act.includes(' gives ');
}

async function perform(life: Life, act: Asked | Duty): Promise<void> {
  const { run } = life;
  if (isAsked(act)) {
    await ask(life, act);
    run.ended(Gates.actor ?? '');
    return;
  }
  if (act === 'time passes') {
    await Gates.pass({ kind: 'write', label: act, faults: [] }, () => run.timePasses());
    return;
  }
  if (act === 'the service catches up') {
    const step = { kind: 'wallet', label: act, faults: [] } as const;
    await Gates.pass(step, () => Promise.resolve(run.catchUp()));
    return;
  }
  const duty = { 'looks for templates': readTemplates, 'looks for bonuses': readGrants };
  try {
    if (act === 'closes') await closeLeftOpen(run.reading);
    else await duty[act](run.reading);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
  }
}

/** An operator's call, with its answer. */
async function ask(life: Life, asked: Asked): Promise<number> {
  const { run, templates, told } = life;
  const [operatorId, what = '', detail = ''] = wordsOf(asked);
  const from = life.moment;
  const isCreate = what === 'makes';
  const body = isCreate
    ? templateBody({ name: detail })
    : batchBody(templates[operatorId], detail.split('+'));
  const story = isCreate ? createTemplate : applyBatch;
  let result: BonusResult['answer'];
  try {
    ({ answer: result } = await story(run.reading, run.call(operatorId, body)));
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    result = { status: 503, body: '' };
  }
  told.push({ asked, from, to: life.moment, status: result.status, body: result.body });
  return result.status;
}

function wordsOf(asked: Asked): readonly [OperatorId, string, string] {
  const [operatorId = '', what = '', ...rest] = asked.split(' ');
  if (operatorId !== 'alpha' && operatorId !== 'beta') throw new Error(asked);
  return [operatorId, what, rest.join(' ')];
}

/** All is well from now on: what is open ends, and each call is repeated until it is answered. */
async function heal(life: Life, all: readonly Asked[]): Promise<void> {
  const { run } = life;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    life.moment += 1;
    await run.timePasses();
    while (await readTemplates(run.reading));
    while (await readGrants(run.reading));
    await closeLeftOpen(run.reading);
    await decide(run);
    let left = 0;
    for (const asked of all) if ((await ask(life, asked)) !== 200) left += 1;
    if (left === 0) return;
  }
}

/** A person assigns the oldest template that is nobody's to an operator that waits for one. */
async function decide(run: BonusRun): Promise<void> {
  await run.look(`
    WITH one AS (SELECT operator_id, above_id FROM bonus_intents
                  WHERE upstream_cid = $1 AND state = 'open' AND ambiguous ORDER BY above_id DESC, id LIMIT 1),
    given AS (INSERT INTO bonus_templates (upstream_cid, operator_id, template_id, origin)
              SELECT $1, one.operator_id, c.template_id, 'assigned'
                FROM bonus_template_copies c, one
               WHERE c.upstream_cid = $1 AND c.template_id > one.above_id
                 AND c.template_id NOT IN (SELECT template_id FROM bonus_templates WHERE upstream_cid = $1)
               ORDER BY c.template_id LIMIT 1)
    SELECT operator_id FROM one`);
}

async function findingsOf(life: Life, all: readonly Asked[]): Promise<readonly string[]> {
  const { run, told } = life;
  const found: string[] = [];
  for (const { operator_id: id, kind } of await run.look(
    `SELECT operator_id, kind FROM bonus_intents WHERE upstream_cid = $1 AND state = 'open'`,
  )) {
    found.push(`a call of ${id} (${kind}) never ends`);
  }
  for (const asked of all) found.push(...promisesBroken(asked, told));
  found.push(...bookFindings(life, all), ...(await ownerFindings(life)));
  for (const { asked, body, status } of told) {
    const [operatorId] = wordsOf(asked);
    const foreign = operatorId === 'alpha' ? 'beta' : 'alpha';
    if (body.includes(run.cid) || body.includes(foreign))
      found.push(`${asked} shows others: ${body}`);
    if (![200, 409, 502, 503, 504].includes(status)) found.push(`${asked} was told ${status}`);
  }
  return found;
}

/** Every good answer is the same; after the first one there is no other. */
function promisesBroken(asked: Asked, told: readonly Told[]): readonly string[] {
  const own = told.filter((one) => one.asked === asked);
  const good = own.filter(({ status }) => status === 200);
  const first = Math.min(...good.map(({ to }) => to));
  const later = own.filter(({ from, status }) => from > first && status !== 200);
  const bodies = new Set(good.map(({ body }) => body));
  return [
    ...(bodies.size === 1 ? [] : [`${asked} was told ${bodies.size} different answers`]),
    ...later.map(({ status }) => `${asked} was told 200, and then ${status}`),
  ];
}

/** What the service has is what was asked for, each once, and all of it was told as issued. */
function bookFindings({ run, told, templates }: Life, all: readonly Asked[]): readonly string[] {
  const { books } = run;
  const names = all.map(wordsOf).flatMap(([, what, name]) => (what === 'makes' ? [name] : []));
  const made = [...books.templates.values()].map(({ name }) => name).slice(OPERATORS.length);
  const wrong: string[] = [];
  if (names.toSorted().join() !== made.toSorted().join()) {
    wrong.push(`asked for ${names.join()}, made are ${made.join()}`);
  }
  for (const asked of all) {
    const [operatorId, what, detail] = wordsOf(asked);
    if (what !== 'gives') continue;
    const answer = told.findLast((one) => one.asked === asked && one.status === 200);
    const items = Object.values(objectOf(objectOf(JSON.parse(answer?.body ?? '{}')).items));
    const shown = items.map((item) => objectOf(item));
    const users = shown.map(({ userId }) => String(userId)).toSorted();
    const isOf = shown.every(({ templateId }) => templateId === templates[operatorId]);
    if (users.join() !== detail.split('+').toSorted().join() || !isOf) {
      wrong.push(`${asked} ended with ${answer?.body}`);
    }
    const ids = new Set(shown.map(({ id }) => id));
    const known = books.bonuses().filter(({ id }) => ids.has(id));
    if (known.length !== ids.size) wrong.push(`${asked} was told of bonuses that are none`);
  }
  return wrong;
}

/** Each template belongs to the operator that was told of it, and to no other. */
async function ownerFindings({ run, told }: Life): Promise<readonly string[]> {
  const rows = await run.look(
    'SELECT template_id::text, operator_id FROM bonus_templates WHERE upstream_cid = $1',
  );
  const owners = new Map(rows.map((row) => [row.template_id, row.operator_id]));
  const good = told.filter(({ asked, status }) => asked.includes(' makes ') && status === 200);
  return good.flatMap(({ asked, body }) => {
    const owner = owners.get(String(objectOf(JSON.parse(body)).id));
    return owner === wordsOf(asked)[0] ? [] : [`${asked}, and it is ${owner}'s`];
  });
}
