import { createHmac } from 'node:crypto';
import { Slices } from '../lib/slices.ts';
import { isSecretSetting } from './folder/secret-paths.ts';
import { pathText } from './problems.ts';
import type { Configuration, OperatorConfig } from './schema/schema.ts';

/** A setting as text, or the fingerprints of secrets. */
export type SettingView = string | { readonly secrets: readonly string[] };

/** By path, such as `wallet.timeoutMs`, with every default filled in. */
export type SettingsView = Readonly<Record<string, SettingView>>;

/** A configuration without secrets, for people. */
export interface ConfigurationView {
  readonly gateway: SettingsView;
  /** By operator id. */
  readonly operators: Readonly<Record<string, SettingsView>>;
}

/**
 * The configuration with secrets replaced by fingerprints, each over the setting's path too, so that equal
 * secrets look different. Works in slices. @param key known only to those who may compare
 */
export async function viewOf(
  { gateway, operators }: Configuration,
  key: string,
): Promise<ConfigurationView> {
  const views = await new Slices().map(
    [...operators.values()],
    (operator) => [operator.id, viewOfOperator(operator, key)] as const,
  );
  return { gateway: settingsOf(gateway, 'gateway', key), operators: Object.fromEntries(views) };
}

/** The same for one operator. */
export function viewOfOperator(operator: OperatorConfig, key: string): SettingsView {
  return settingsOf(operator, `operators/${operator.id}`, key);
}

type Path = readonly (string | number)[];

function settingsOf(config: object, owner: string, key: string): SettingsView {
  const settings: [string, SettingView][] = [];
  const walk = (value: unknown, path: Path): void => {
    if (value === undefined) return;
    const where = pathText(path);
    if (isSecretSetting(path)) {
      const secrets = Array.isArray(value) ? value : [value];
      const fingerprint = (secret: unknown) =>
        createHmac('sha256', key).update(`${owner}\0${where}\0${secret}`).digest('base64url');
      settings.push([where, { secrets: secrets.map(fingerprint) }]);
    } else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      for (const [name, inner] of Object.entries(value)) walk(inner, [...path, name]);
    } else {
      settings.push([where, typeof value === 'string' ? value : JSON.stringify(value)]);
    }
  };
  walk(config, []);
  return Object.fromEntries(settings);
}
