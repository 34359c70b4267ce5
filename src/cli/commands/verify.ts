import { Command } from 'commander';
import { type SignatureFault, type SigningKey, verify } from '../../protocol/signature.ts';
import { CommandFailed } from '../failures.ts';
import { withExamples } from '../help.ts';
import { readAll, STDIN } from '../input.ts';
import { keyOf, type SecretOptions, withSecret } from '../secret.ts';
import type { Terminal } from '../terminal.ts';

interface Options extends SecretOptions {
  readonly signature: string;
  readonly json?: true;
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
    .action((file: string, options: Options) => judge(terminal, file, options));
  return withExamples(
    command,
    { line: 'verify --secret-env ALPHA_API_SECRET --signature eyJhbGciOi... body.json' },
    { line: 'verify --secret demo-secret --signature eyJhbGciOi... < body.json' },
  );
}

async function judge(terminal: Terminal, file: string, options: Options): Promise<void> {
  const key = keyOf(options, terminal.env);
  const body = await readAll(terminal, file);
  const { signature, advice } = signatureIn(options.signature);
  if (advice !== undefined) terminal.tell(advice);
  const verdict = verify(signature, body, [key]);
  if (options.json) {
    terminal.printJson(verdict.ok ? { valid: true } : { valid: false, reason: verdict.reason });
  } else if (verdict.ok) terminal.print('valid');
  if (verdict.ok) return;
  const why =
    verdict.reason === 'mismatch'
      ? mismatchOf(signature, body, key)
      : verdict.reason === 'malformed'
        ? formOf(signature)
        : WHY[verdict.reason];
  throw new CommandFailed(`not valid: ${why}`);
}

const WHY: Readonly<Record<Exclude<SignatureFault, 'mismatch' | 'malformed'>, string>> = {
  missing: 'there is no signature',
  algorithm: 'its header asks for another algorithm than HS256',
  crit: 'its header asks for extensions of JWS (crit or b64), which are not taken',
};

/** A whole header line, as people copy it, is taken for its value. */
function signatureIn(given: string): { readonly signature: string; readonly advice?: string } {
  const line = /^\s*(x-sign(?:-jws)?)\s*:\s*(.*?)\s*$/i.exec(given);
  if (line === null) return { signature: given };
  const [, name = '', signature = ''] = line;
  if (name.toLowerCase() === 'x-sign-jws') return { signature };
  return { signature, advice: `${name} is the older header: the gateway looks at x-sign-jws` };
}

/** Says what was given instead of a detached signature. */
function formOf(signature: string): string {
  if (/^(?:[0-9a-f]{2})+$/i.test(signature)) {
    return (
      `it is hexadecimal (${signature.length / 2} bytes): x-sign-jws wants a JWS, header..signature, ` +
      'both in base64url'
    );
  }
  const parts = signature.split('.');
  if (parts.length === 3 && parts[1] !== '') {
    return 'it is a JWS with its payload inside: leave the middle part empty, header..signature';
  }
  if (parts.length === 1 && /^[\w+/=-]+$/.test(signature)) {
    return 'it is the code alone: the JWS header and two dots belong before it, header..signature';
  }
  if (/[+/=]/.test(signature)) return 'it is base64: base64url has - and _ and no padding';
  return 'a signature is header..signature, both base64url without padding; nothing between';
}

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
