import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { plain } from '../../lib/plain-text.ts';
import { configFolder } from '../configuration.ts';
import { CommandFailed, UsageError } from '../failures.ts';
import { withExamples } from '../help.ts';
import { handoverOf, handoverText } from '../onboarding/handover.ts';
import type { DraftSecrets, OperatorDraft } from '../onboarding/new-operator.ts';
import { Questions } from '../onboarding/questions.ts';
import { typedCurrency } from '../query-options.ts';
import type { Terminal } from '../terminal.ts';

interface Options {
  readonly name?: string;
  readonly walletUrl?: string;
  readonly currencies?: string;
  readonly cid?: string;
  readonly sessions: OperatorDraft['sessions'];
  readonly status: OperatorDraft['status'];
  readonly allowPrivate?: true;
  readonly secretsDir?: string;
  readonly gatewayUrl?: string;
  readonly folder?: string;
  readonly json?: true;
}

/** `wagergate operator new`: writes a file and two secrets, and prints what to send to the operator. */
export function operatorNewCommand(terminal: Terminal): Command {
  const command = new Command('new')
    .summary('adds an operator: its file, its secrets, what to send to it')
    .description(
      'Writes operators/<id>.yaml with two fresh secrets and prints what to send to the operator. ' +
        'Whatever the options leave out is asked for on the terminal. Without --secrets-dir the ' +
        'file takes the secrets from environment variables, which are printed only this once; a ' +
        'running gateway sees new variables only after a restart, but new files within 2 s. ' +
        'Besides, it writes operator.schema.json for editors where the folder has none, and lists ' +
        'every file that it wrote. It writes nothing if the gateway would refuse the folder because ' +
        'of the new file, and never overwrites a file.',
    )
    .argument('<id>', 'the operator: 2 to 32 lower-case letters, digits or dashes')
    .option('--name <name>', 'the name people know it by')
    .option('--wallet-url <url>', 'base address of its wallet')
    .option('--currencies <list>', 'its players’ currencies, such as EUR,USD')
    .option('--cid <key>', 'its key at this gateway (default: <id>-key)')
    .addOption(
      new Option('--sessions <mode>', 'how players get tokens')
        .choices(['issued', 'prefixed'])
        .default('issued'),
    )
    .addOption(
      new Option('--status <status>', 'in maintenance nothing is sent to it yet')
        .choices(['active', 'maintenance'])
        .default('active'),
    )
    .option('--allow-private', 'its wallet may use plain http or a private address')
    .option('--secrets-dir <dir>', 'write each secret into a file of its own there, mode 0600')
    .option('--gateway-url <url>', 'the gateway’s public address, for what is sent to the operator')
    .option('--folder <dir>', 'the configuration folder (default: GATEWAY_CONFIG, else ./config)')
    .option('--json', 'print the result as JSON, with the secrets where they are in no file')
    .action((id: string, options: Options) => create(terminal, id, options));
  return withExamples(
    command,
    { line: 'operator new alpha', note: 'asks for what it needs' },
    {
      line:
        'operator new alpha --name "Alpha Casino" --wallet-url https://wallet.alpha.example/api ' +
        '--currencies EUR,USD --secrets-dir /run/secrets',
    },
  );
}

async function create(terminal: Terminal, id: string, options: Options): Promise<void> {
  // Imported here: they bring the schemas, which no other command should wait for.
  const { idLike, operatorYaml, problemsOf } = await import('../onboarding/new-operator.ts');
  const { collisionIn, writeOperator } = await import('../onboarding/operator-files.ts');
  const { OPERATOR_ID } = await import('../../config/schema/schema.ts');
  if (!OPERATOR_ID.test(id)) throw unusableId(id, idLike(id));
  const folder = configFolder(terminal.env, options.folder);
  requireConfiguration(folder);

  const draft = await draftOf(terminal, id, options);
  const collision = collisionIn(folder, id, draft.cid);
  if (collision !== undefined) throw new CommandFailed(plain(collision));
  const secrets = await secretsOf(id, options.secretsDir);
  const text = operatorYaml(draft, secrets);
  const [problem] = problemsOf(`operators/${id}.yaml`, text, secrets);
  if (problem !== undefined) throw new UsageError(plain(`${problem.path}: ${problem.reason}`));

  const files = [secrets.wallet, secrets.api].flatMap(({ expression, value }) =>
    expression.startsWith('file:') ? { path: expression.slice('file:'.length), value } : [],
  );
  const { newProblems } = await import('../onboarding/new-problems.ts');
  const variables = environmentOf(secrets);
  const written = writeOperator(folder, id, text, files, () => {
    const found = newProblems(folder, terminal.env, { name: `${id}.yaml`, text, variables });
    if (found.length > 0) throw new Error(plain(found.join('; ')));
  });
  report(terminal, draft, secrets, written, options);
}

/** In any other folder the file would be written, but no gateway would ever read it. */
function requireConfiguration(folder: string): void {
  if (existsSync(join(folder, 'gateway.yaml'))) return;
  throw new UsageError(
    `${folder} is not a configuration folder, it has no gateway.yaml: name it with --folder or ` +
      'GATEWAY_CONFIG',
  );
}

function unusableId(id: string, meant: string | undefined): UsageError {
  const rule = 'is no operator id: 2 to 32 lower-case letters, digits or dashes, a letter first';
  return new UsageError(
    `${plain(id)} ${rule}${meant === undefined ? '' : `; did you mean ${meant}?`}`,
  );
}

/** From the options, and for what they leave open from the person at the terminal. */
async function draftOf(terminal: Terminal, id: string, options: Options): Promise<OperatorDraft> {
  const { name, walletUrl, currencies } = options;
  const missing = Object.entries({
    '--name': name,
    '--wallet-url': walletUrl,
    '--currencies': currencies,
  }).flatMap(([option, value]) => (value === undefined ? option : []));
  if (missing.length > 0 && terminal.stdin.isTTY !== true) {
    throw new UsageError(`give ${missing.join(', ')}: there is no terminal to ask on`);
  }
  const questions = missing.length > 0 ? new Questions(terminal) : undefined;
  const answerTo = async (
    given: string | undefined,
    question: string,
    faultOf: (answer: string) => string | undefined,
    fallback?: string,
  ) => given ?? (await questions?.ask(question, faultOf, fallback)) ?? '';
  const isPrivate = options.allowPrivate === true;
  const { addressFault, currencyFault } = await import('../onboarding/new-operator.ts');
  const aWallet = (text: string) => addressFault(text, isPrivate);
  const currencyList = (text: string) => currencyFault(listOf(text));
  try {
    return {
      id,
      name: await answerTo(name, 'The name people know the operator by', notEmpty, id),
      walletUrl: await answerTo(walletUrl, 'Base address of its wallet', aWallet),
      currencies: listOf(
        await answerTo(currencies, 'Currencies of its players, such as EUR,USD', currencyList),
      ),
      cid: options.cid ?? `${id}-key`,
      sessions: options.sessions,
      status: options.status,
      allowPrivate: options.allowPrivate === true,
    };
  } finally {
    questions?.close();
  }
}

const notEmpty = (text: string) => (text === '' ? 'It must not be empty.' : undefined);
const listOf = (text: string) =>
  text
    .split(/[\s,;]+/)
    .filter((word) => word !== '')
    .map(typedCurrency);

async function secretsOf(id: string, folder: string | undefined): Promise<DraftSecrets> {
  const { newSecret, variableName } = await import('../onboarding/new-operator.ts');
  const secret = (which: 'wallet' | 'api') => ({
    value: newSecret(),
    expression:
      folder === undefined
        ? variableName(id, which)
        : `file:${resolve(folder, `${id}-${which}-secret`)}`,
  });
  return { wallet: secret('wallet'), api: secret('api') };
}

/** The variables that have to be set where the gateway runs. */
function environmentOf({ wallet, api }: DraftSecrets): Readonly<Record<string, string>> {
  const variables = [wallet, api].filter(({ expression }) => !expression.startsWith('file:'));
  return Object.fromEntries(variables.map(({ expression, value }) => [expression, value]));
}

function report(
  terminal: Terminal,
  draft: OperatorDraft,
  secrets: DraftSecrets,
  written: readonly string[],
  options: Options,
): void {
  const handover = handoverOf(draft, secrets, options.gatewayUrl);
  const inFiles = options.secretsDir !== undefined;
  const environment = environmentOf(secrets);
  if (options.json) {
    terminal.printJson({ id: draft.id, written, environment, handover });
    return;
  }
  terminal.print(`Written:\n${written.map((path) => `  ${path}`).join('\n')}`);
  if (!inFiles) {
    const lines = Object.entries(environment).map(([name, value]) => `  ${name}=${value}`);
    terminal.print(
      '\nSet these where the gateway runs, and restart it; they are shown only this once:\n' +
        lines.join('\n'),
    );
  }
  terminal.print(
    `\nSend to the operator, by a channel that keeps secrets:\n${handoverText(handover)}`,
  );
  terminal.print('\nNext: `wagergate config check --probe`');
}
