import { describeProblem } from '../config/problems.ts';
import type { Configuration } from '../config/schema.ts';
import { deliverySettings } from '../engine/delivery-settings.ts';
import { plain } from '../lib/plain-text.ts';
import { DeliveryAdmin } from '../store/deliveries/delivery-admin.ts';
import { loadFolder } from './configuration.ts';
import { withPrisma } from './database.ts';
import { CommandFailed, UsageError } from './failures.ts';
import type { Terminal } from './terminal.ts';

/** How long the gateway tries by itself where no configuration says (`delivery.horizonHours`). */
const HORIZON_HOURS_DEFAULT = 72;

export interface DeliveryCommandOptions {
  readonly folder?: string;
}

/**
 * Opens the delivery admin for one piece of work. Breakers live in the gateway's processes: seen
 * from here a delivery is held when its operator is not active, or not in the configuration. Where
 * there is no valid configuration it prints a warning, and none counts as held.
 *
 * @throws CommandFailed when there is no ready database
 */
export async function withDeliveryAdmin<T>(
  terminal: Terminal,
  { folder }: DeliveryCommandOptions,
  use: (admin: DeliveryAdmin) => Promise<T>,
): Promise<T> {
  return await withPrisma(terminal.env, async (prisma) => {
    const configuration = await configurationOrWarning(terminal, folder);
    const admin = new DeliveryAdmin({
      prisma,
      isHeld: (operatorId) =>
        configuration !== undefined && configuration.operators.get(operatorId)?.status !== 'active',
      horizonHours: (operatorId) =>
        configuration === undefined
          ? HORIZON_HOURS_DEFAULT
          : deliverySettings(configuration, operatorId).horizonHours,
      // The gateway's sweep finds within a second or two what is due: nobody has to be notified here.
    });
    return await use(admin);
  });
}

/** A delivery's id as the lists show it. @throws UsageError */
export function deliveryId(text: string): string {
  if (/^[1-9]\d{0,17}$/.test(text)) return text;
  throw new UsageError(
    `${plain(text)} is not a delivery's id: take the number from \`wagergate deliveries list\``,
  );
}

export function noSuchDelivery(id: string): CommandFailed {
  return new CommandFailed(`no delivery ${id}: look it up with \`wagergate deliveries list\``);
}

async function configurationOrWarning(
  terminal: Terminal,
  option: string | undefined,
): Promise<Configuration | undefined> {
  const loaded = await loadFolder(terminal.env, option);
  if (loaded.ok) return loaded.configuration;
  const [first] = loaded.problems;
  const why = first === undefined ? '' : ` (${plain(describeProblem(first))})`;
  terminal.tell(
    `warning: ${loaded.folder} is not valid${why}: held deliveries are shown as pending, and ` +
      `tried for ${HORIZON_HOURS_DEFAULT} hours`,
  );
  return undefined;
}
