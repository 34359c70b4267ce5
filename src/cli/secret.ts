import type { Command } from 'commander';
import { type SigningKey, signingKeys } from '../protocol/signature.ts';
import { UsageError } from './failures.ts';

export interface SecretOptions {
  readonly secret?: string;
  readonly secretEnv?: string;
}

/** Adds the two options that give a secret. */
export function withSecret(command: Command): Command {
  return command
    .option('--secret <secret>', 'the shared secret; other users of this machine can see it')
    .option('--secret-env <name>', 'the environment variable that holds the shared secret');
}

/** @throws UsageError unless exactly one of the options leads to a secret */
export function keyOf(options: SecretOptions, env: NodeJS.ProcessEnv): SigningKey {
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
