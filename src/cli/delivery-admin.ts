import { describeProblem } from '../config/problems.ts';
import { plain } from '../lib/plain-text.ts';
import { deliverySettings } from '../operations/operator-settings.ts';
import { DeliveryAdmin, type DeliveryAdminOptions } from '../store/deliveries/delivery-admin.ts';
import { loadValid, operatorOf } from './configuration.ts';
import { withPrisma } from './database.ts';
import { CommandFailed, UsageError } from './failures.ts';
import type { Terminal } from './terminal.ts';

/** How long the gateway tries by itself if no configuration says (`delivery.horizonHours`). */
const HORIZON_HOURS_DEFAULT = 72;

export interface DeliveryCommandOptions {
  readonly folder?: string;
}

/**
 * Opens the delivery admin for one piece of work. Breakers exist only in the gateway: here a delivery counts as
 * held if its operator is in maintenance or not configured; a warning says where a file is not valid.
 * @throws CommandFailed when there is no ready database
 */
export async function withDeliveryAdmin<T>(
  terminal: Terminal,
  { folder }: DeliveryCommandOptions,
  use: (admin: DeliveryAdmin) => Promise<T>,
): Promise<T> {
  return await withPrisma(terminal, async (prisma) => {
    // The gateway's sweep finds due deliveries within a second or two: this command need not notify it.
    const admin = new DeliveryAdmin({ prisma, ...(await standing(terminal, folder)) });
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

/** The operators' status by their files, each separately: a broken file does not affect the others. */
async function standing(
  terminal: Terminal,
  option: string | undefined,
): Promise<Omit<DeliveryAdminOptions, 'prisma'>> {
  const { folder, configuration, problems } = await loadValid(terminal.env, option);
  const [first] = problems;
  const broken = new Set(problems.flatMap((problem) => operatorOf(problem) ?? []));
  const [whose, forHowLong] =
    configuration === undefined
      ? ['', `${HORIZON_HOURS_DEFAULT} hours`]
      : [` of ${[...broken].join(', ')}`, 'as long as gateway.yaml says'];
  if (first !== undefined) {
    terminal.tell(
      plain(
        `warning: ${folder} is not valid (${describeProblem(first)}): held deliveries${whose} are ` +
          `shown as pending, and tried for ${forHowLong}`,
      ),
    );
  }
  if (configuration === undefined) {
    return { isHeld: () => false, horizonHours: () => HORIZON_HOURS_DEFAULT };
  }
  return {
    isHeld: (operatorId) => {
      if (broken.has(operatorId)) return false;
      // Promised operations are still delivered to a suspended operator's wallet.
      const { status = 'maintenance' } = configuration.operators.get(operatorId) ?? {};
      return status === 'maintenance';
    },
    horizonHours: (operatorId) => deliverySettings(configuration, operatorId).horizonHours,
  };
}
