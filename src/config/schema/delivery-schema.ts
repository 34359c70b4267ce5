import { z } from 'zod';
import type { SettingProblem } from '../problems.ts';
import { positiveInt, WEEK_MS } from './fields.ts';

/** The longest pause that may be configured. */
export const PAUSE_MS_MAX = 24 * 60 * 60 * 1000;
const YEAR_HOURS = 365 * 24;

/** The settings without their defaults: an operator's file must be able to leave each one out. */
const settings = {
  horizonHours: z
    .number()
    .positive()
    .max(YEAR_HOURS)
    .describe('How long a delivery is retried before it is dead; may be a fraction'),
  minBackoffMs: positiveInt(PAUSE_MS_MAX).describe('Wait before the first retry of a delivery'),
  maxBackoffMs: positiveInt(PAUSE_MS_MAX).describe(
    'Longest wait between two attempts of a delivery',
  ),
  confirmUnknownAfterMs: positiveInt(PAUSE_MS_MAX).describe(
    "An attempt without an answer may still take effect late, so the bet's last result or its rollback is sent again this long after it, and once more at ten times that",
  ),
  originateRollbackAfterMs: positiveInt(WEEK_MS).describe(
    'A place answered with code 100 whose rollback never came is rolled back by the gateway after this time (errorCode 10)',
  ),
  concurrency: positiveInt(1000).describe(
    'Deliveries to one operator that may be in flight at once',
  ),
  ratePerSecond: z
    .number()
    .positive()
    .max(100_000)
    .describe('Most delivery attempts to one operator per second; left out: no limit'),
};

/** `delivery` of the gateway's file. */
export const deliverySchema = z
  .strictObject({
    horizonHours: settings.horizonHours.default(72),
    minBackoffMs: settings.minBackoffMs.default(1000),
    maxBackoffMs: settings.maxBackoffMs.default(300_000),
    confirmUnknownAfterMs: settings.confirmUnknownAfterMs.default(60_000),
    originateRollbackAfterMs: settings.originateRollbackAfterMs.default(600_000),
    concurrency: settings.concurrency.default(8),
    ratePerSecond: settings.ratePerSecond.optional(),
  })
  .superRefine((delivery, context) => {
    for (const { path, reason } of checkDelivery(delivery)) {
      context.addIssue({ code: 'custom', path: [...path], message: reason });
    }
  });

/** `delivery` of an operator's file: what is left out is taken from the gateway's. */
export const deliveryOverrideSchema = z.strictObject(settings).partial();

export type Delivery = z.output<typeof deliverySchema>;
export type DeliveryOverride = z.output<typeof deliveryOverrideSchema>;

/** The gateway's delivery settings with an operator's own put over them, item by item. */
export function mergeDelivery(
  gateway: Readonly<Delivery>,
  own: Readonly<DeliveryOverride> = {},
): Delivery {
  const ratePerSecond = own.ratePerSecond ?? gateway.ratePerSecond;
  return {
    horizonHours: own.horizonHours ?? gateway.horizonHours,
    minBackoffMs: own.minBackoffMs ?? gateway.minBackoffMs,
    maxBackoffMs: own.maxBackoffMs ?? gateway.maxBackoffMs,
    confirmUnknownAfterMs: own.confirmUnknownAfterMs ?? gateway.confirmUnknownAfterMs,
    originateRollbackAfterMs: own.originateRollbackAfterMs ?? gateway.originateRollbackAfterMs,
    concurrency: own.concurrency ?? gateway.concurrency,
    ...(ratePerSecond === undefined ? {} : { ratePerSecond }),
  };
}

/** What is wrong between the settings; paths are relative to `delivery`. */
export function checkDelivery(delivery: Readonly<Delivery>): SettingProblem[] {
  const { minBackoffMs, maxBackoffMs } = delivery;
  if (minBackoffMs <= maxBackoffMs) return [];
  return [
    {
      path: ['minBackoffMs'],
      reason: `${minBackoffMs} is above maxBackoffMs (${maxBackoffMs}): lower it, or raise maxBackoffMs`,
    },
  ];
}
