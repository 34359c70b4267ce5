import { Command } from 'commander';
import {
  type SignatureFault,
  type SigningKey,
  sign,
  signingKeys,
  verify,
} from '../../protocol/signature.ts';
import { CommandFailed, UsageError } from '../failures.ts';
import { withExamples } from '../help.ts';
import { readAll, STDIN } from '../input.ts';
import type { Terminal } from '../terminal.ts';

interface SecretOptions {
  readonly secret?: string;
  readonly secretEnv?: string;
  readonly json?: true;
}

interface VerifyOptions extends SecretOptions {
  readonly signature: string;
}

/** `wagergate sign`: prints the signature header for a request body. */
export function signCommand(terminal: Terminal): Command {
  const command = withSecret(new Command('sign'))
    .summary('prints the signature of a request body')
    .description(
      'Prints the value of the x-sign-jws header for exactly these bytes. A newline at the end ' +
        'is part of them: sign what is sent, `printf %s` rather than `echo`, and send it by ' +
        'curl --data-binary, for --data drops newlines.',
    )
    .argument('[file]', 'the body; - or none: stdin', STDIN)
    .option('--json', 'print it as a JSON object')
    .action(async (file: string, options: SecretOptions) => {
      const key = keyOf(options, terminal.env);
      const header = sign(await readAll(terminal, file), key);
      if (options.json) terminal.printJson({ 'x-sign-jws': header });
      else terminal.print(header);
    });
  return withExamples(
    command,
    { line: 'sign --secret-env ALPHA_API_SECRET body.json' },
    { line: `sign --secret demo-secret < body.json` },
  );
}

/** `wagergate verify`: whether a body's signature is valid, and why not. */
export function verifyCommand(terminal: Terminal): Command {
  const command = withSecret(new Command('verify'))
    .summary('says whether a signature holds, and why not')
    .description(
      'Says whether an x-sign-jws header belongs to exactly these bytes and this secret, as the ' +
        'gateway would judge it. A newline at the end is part of the bytes.',
    )
    .argument('[file]', 'the body; - or none: stdin', STDIN)
    .requiredOption('--signature <header>', 'the value of the x-sign-jws header')
    .option('--json', 'print the verdict as JSON')
    .action((file: string, options: VerifyOptions) => judge(terminal, file, options));
  return withExamples(
    command,
    { line: 'verify --secret-env ALPHA_API_SECRET --signature eyJhbGciOi... body.json' },
    { line: 'verify --secret demo-secret --signature eyJhbGciOi... < body.json' },
  );
}

async function judge(terminal: Terminal, file: string, options: VerifyOptions): Promise<void> {
  const key = keyOf(options, terminal.env);
  const body = await readAll(terminal, file);
  const { signature } = options;
  const verdict = verify(signature, body, [key]);
  if (options.json) {
    terminal.printJson(verdict.ok ? { valid: true } : { valid: false, reason: verdict.reason });
  } else if (verdict.ok) terminal.print('valid');
  if (verdict.ok) return;
  const why =
    verdict.reason === 'mismatch' ? mismatchOf(signature, body, key) : WHY[verdict.reason];
  throw new CommandFailed(`not valid: ${why}`);
}

const WHY: Readonly<Record<Exclude<SignatureFault, 'mismatch'>, string>> = {
  missing: 'there is no signature',
  malformed: 'a signature is header..signature, both base64url without padding; nothing between',
  algorithm: 'its header asks for another algorithm than HS256',
  crit: 'its header asks for extensions of JWS (crit or b64), which are not taken',
};

/** A newline at the end is the most frequent mistake, so it is tried first. */
function mismatchOf(signature: string, body: Buffer, key: SigningKey): string {
  const holds = (bytes: Buffer) => verify(signature, bytes, [key]).ok;
  const shorter = withoutNewline(body);
  if (shorter !== undefined && holds(shorter)) {
    return 'these bytes end in a newline, and it was made without: sign exactly what is sent';
  }
  if (holds(Buffer.concat([body, Buffer.from('\n')]))) {
    return 'it was made with a newline at the end, which these bytes lack: sign exactly what is sent';
  }
  return 'it was made with another secret, or over other bytes';
}

function withoutNewline(body: Buffer): Buffer | undefined {
  const text = body.toString('latin1');
  const end = /\r?\n$/.exec(text);
  return end === null ? undefined : body.subarray(0, end.index);
}

/** Adds the two options that give a secret. */
function withSecret(command: Command): Command {
  return command
    .option('--secret <secret>', 'the shared secret; other users of this machine can see it')
    .option('--secret-env <name>', 'the environment variable that holds the shared secret');
}

/** @throws UsageError unless exactly one of the options leads to a secret */
function keyOf(options: SecretOptions, env: NodeJS.ProcessEnv): SigningKey {
  const { secret, secretEnv } = options;
  if ((secret === undefined) === (secretEnv === undefined)) {
    throw new UsageError('name the secret: give either --secret or --secret-env');
  }
  const value = secretEnv === undefined ? secret : env[secretEnv];
  if (value === undefined || value === '') {
    throw new UsageError(
      secretEnv === undefined
        ? 'the secret is empty: give the one that both sides share'
        : `the environment variable ${secretEnv} is not set: set it to the secret`,
    );
  }
  const [key] = signingKeys([value]);
  if (key === undefined) throw new Error('one secret makes one key');
  return key;
}
