import { createHmac } from 'node:crypto';
import { pathText } from './problems.ts';
import type { Configuration } from './schema.ts';
import { isSecretSetting } from './secret-paths.ts';

/** A setting that may be shown, as text; or secrets, known only by their fingerprints. */
export type SettingView = string | { readonly secrets: readonly string[] };

/** By path, such as `wallet.timeoutMs`; every default filled in. */
export type SettingsView = Readonly<Record<string, SettingView>>;

/** A configuration that people may see. */
export interface ConfigurationView {
  readonly gateway: SettingsView;
  /** By operator id. */
  readonly operators: Readonly<Record<string, SettingsView>>;
}

/**
 * The configuration without its secrets. In place of each stands a fingerprint, by which whoever
 * has the same key can tell that a secret changed, and nothing else: it is made anew for each place,
 * so that not even two operators with one secret can be told.
 *
 * @param key known to those alone who may compare, such as the admin token
 */
export function viewOf(configuration: Configuration, key: string): ConfigurationView {
  const operators = [...configuration.operators].map(
    ([id, operator]) => [id, settingsOf(operator, `operators/${id}`, key)] as const,
  );
  return {
    gateway: settingsOf(configuration.gateway, 'gateway', key),
    operators: Object.fromEntries(operators),
  };
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
