import { randomBytes } from 'node:crypto';
import { checkTree } from '../../config/check.ts';
import { isOwnVariable } from '../../config/folder/own-variables.ts';
import { maskVariables, type Resolve } from '../../config/folder/variables.ts';
import { parseYaml } from '../../config/folder/yaml-tree.ts';
import { type Problem, problemIn } from '../../config/problems.ts';
import { OPERATOR_ID, operatorSchema } from '../../config/schema/schema.ts';

/** What must be known about an operator before it has a file. */
export interface OperatorDraft {
  readonly id: string;
  readonly name: string;
  readonly walletUrl: string;
  readonly allowPrivate: boolean;
  readonly currencies: readonly string[];
  readonly cid: string;
  readonly sessions: 'issued' | 'prefixed';
  readonly status: 'active' | 'maintenance';
}

/** A secret and how the operator's file refers to it. */
export interface DraftSecret {
  /** The text between the braces: `ALPHA_API_SECRET` or `file:/run/secrets/alpha-api-secret`. */
  readonly expression: string;
  readonly value: string;
}

export interface DraftSecrets {
  readonly wallet: DraftSecret;
  readonly api: DraftSecret;
}

/** As long as the hash that it keys: a longer one would not be harder to guess. */
const SECRET_BYTES = 32;

export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** `alpha-2` as `ALPHA_2_API_SECRET`, and never a variable of the gateway's own. */
export function variableName(id: string, which: 'wallet' | 'api'): string {
  const name = `${id.replaceAll('-', '_')}_${which}_secret`.toUpperCase();
  return isOwnVariable(name) ? `OPERATOR_${name}` : name;
}

/** An id similar to these words, or undefined if none can be made of them. */
export function idLike(words: string): string | undefined {
  const id = words
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^[-0-9]+|-+$/g, '')
    .slice(0, 32)
    .replace(/-+$/, '');
  return OPERATOR_ID.test(id) ? id : undefined;
}

/** The operator's file. Everything optional is left out, so that the schema's defaults apply. */
export function operatorYaml(draft: OperatorDraft, secrets: DraftSecrets): string {
  const quoted = (text: string) => JSON.stringify(text);
  const lines = [
    '# yaml-language-server: $schema=../operator.schema.json',
    '#',
    '# Written by `wagergate operator new`. What is left out has its default: see the schema, or the',
    '# commented example of the repository, config/operators/alpha.yaml.',
    '',
    `id: ${draft.id}`,
    `name: ${quoted(draft.name)}`,
    ...(draft.status === 'active' ? [] : [`status: ${draft.status}`]),
    '',
    'wallet:',
    `  baseUrl: ${quoted(draft.walletUrl)}`,
    ...(draft.allowPrivate ? ['  allowPrivate: true'] : []),
    '  # Shared with the wallet: signs what the gateway sends.',
    '  secrets:',
    `    - \${${secrets.wallet.expression}}`,
    '',
    'api:',
    `  cid: ${quoted(draft.cid)}`,
    '  # Verifies what the operator sends.',
    '  secrets:',
    `    - \${${secrets.api.expression}}`,
    ...(draft.sessions === 'issued' ? [] : ['', 'sessions:', `  mode: ${draft.sessions}`]),
    '',
    `currencies: [${draft.currencies.map(quoted).join(', ')}]`,
  ];
  return `${lines.join('\n')}\n`;
}

/** What is wrong with a wallet's address; undefined if nothing. */
export function addressFault(text: string, isPrivate: boolean): string | undefined {
  return faultOf({ walletUrl: text, allowPrivate: isPrivate }, 'wallet.baseUrl');
}

/** What is wrong with a list of currencies; undefined if nothing. */
export function currencyFault(currencies: readonly string[]): string | undefined {
  if (currencies.length === 0) return 'There must be one at least, such as EUR.';
  return faultOf({ currencies }, 'currencies');
}

/** Checked as the gateway will, with everything else valid. */
function faultOf(change: Partial<OperatorDraft>, path: string): string | undefined {
  const secret = (expression: string) => ({ expression, value: newSecret() });
  const secrets = { wallet: secret('A'), api: secret('B') };
  const draft = { ...BLAMELESS, ...change };
  const found = problemsOf('', operatorYaml(draft, secrets), secrets).find((problem) =>
    problem.path.startsWith(path),
  );
  return found === undefined ? undefined : `It ${found.reason}.`;
}

const BLAMELESS: OperatorDraft = {
  id: 'alpha',
  name: 'Alpha',
  walletUrl: 'https://wallet.example',
  allowPrivate: false,
  currencies: ['EUR'],
  cid: 'alpha-key',
  sessions: 'issued',
  status: 'active',
};

/** What is wrong with a file before it is written, checked as the gateway will. */
export function problemsOf(
  file: string,
  text: string,
  { wallet, api }: DraftSecrets,
): readonly Problem[] {
  const resolve: Resolve = (expression) => {
    const secret = [wallet, api].find((one) => one.expression === expression);
    return secret === undefined
      ? { ok: false, reason: `\${${expression}} is not known here` }
      : { ok: true, value: secret.value, source: expression };
  };
  const checked = checkTree(operatorSchema, parseYaml(maskVariables(text), resolve));
  return checked.ok ? [] : checked.problems.map((problem) => problemIn(file, problem));
}

/** The `api.cid` in an operator's file; undefined if it depends on variables. */
export function cidIn(text: string): string | undefined {
  const unknown: Resolve = () => ({ ok: false, reason: 'not asked for' });
  const { value } = parseYaml(maskVariables(text), unknown);
  const api = memberOf(value, 'api');
  const cid = memberOf(api, 'cid');
  return typeof cid === 'string' ? cid : undefined;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined;
}
