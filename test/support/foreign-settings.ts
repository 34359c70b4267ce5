import { onServer } from './server.ts';

/** Settings that a database may have from somebody who had other programs in mind. */
export const FOREIGN_SETTINGS: Readonly<Record<string, string>> = {
  DateStyle: 'German',
  IntervalStyle: 'sql_standard',
  TimeZone: 'Asia/Kathmandu',
  array_nulls: 'off',
  bytea_output: 'escape',
  default_transaction_isolation: 'serializable',
  extra_float_digits: '-3',
  standard_conforming_strings: 'off',
  lock_timeout: '20ms',
  statement_timeout: '400ms',
  idle_in_transaction_session_timeout: '400ms',
  jit: 'on',
  jit_above_cost: '0',
  plan_cache_mode: 'force_generic_plan',
};

/** From now on every new connection to this database begins with these settings. */
export async function setUpDatabase(
  url: string,
  settings: Readonly<Record<string, string>> = FOREIGN_SETTINGS,
): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await onServer(url, async (client) => {
    for (const [setting, value] of Object.entries(settings)) {
      await client.query(`ALTER DATABASE ${name} SET ${setting} = '${value}'`);
    }
  });
}
