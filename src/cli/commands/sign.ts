import { Command } from 'commander';
import { sign } from '../../protocol/signature.ts';
import { withExamples } from '../help.ts';
import { readAll, STDIN } from '../input.ts';
import { keyOf, type SecretOptions, withSecret } from '../secret.ts';
import type { Terminal } from '../terminal.ts';

interface Options extends SecretOptions {
  readonly json?: true;
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
    .action(async (file: string, options: Options) => {
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
