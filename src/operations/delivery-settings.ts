import type { Configuration, Delivery } from '../config/schema/schema.ts';
import type { NewDelivery } from '../store/bets/commit.ts';

export type DeliverySettings = Readonly<Delivery>;

/** An operator's own delivery settings; the gateway's for one whose file is gone. */
export function deliverySettings(
  configuration: Configuration,
  operatorId: string,
): DeliverySettings {
  const { gateway, operators } = configuration;
  return operators.get(operatorId)?.delivery ?? gateway.delivery;
}

/** For how many milliseconds a delivery is retried before it becomes a dead letter. */
export function horizonMsOf({ horizonHours }: DeliverySettings): number {
  return horizonHours * 3_600_000;
}

/** A promise to an operator's wallet as a delivery with that operator's horizon. */
export function newDelivery(
  configuration: Configuration,
  operatorId: string,
  promise: Omit<NewDelivery, 'horizonMs'>,
): NewDelivery {
  return { ...promise, horizonMs: horizonMsOf(deliverySettings(configuration, operatorId)) };
}
