import { call } from '../../api/call.ts';
import { Action } from '../../parts/action.tsx';

interface OfDelivery {
  readonly id: string;
  readonly operation: string;
}

/** Only a dead one can be resolved, and a retried rollback that is refused again is not dead. */
export const NOT_RESOLVED =
  'What is retried cannot be resolved before it is dead again: for days, if the wallet refuses it once more.';

export function RetryAction({ id, operation }: OfDelivery) {
  return (
    <Action
      right="operate"
      label="Retry"
      tone="main"
      title={`Retry the ${operation}`}
      subject={id}
      about={`It is due at once, and the gateway goes on trying for its whole horizon. ${NOT_RESOLVED}`}
      reason="optional"
      run={(reason) => call('POST /admin/deliveries/:id/retry', { path: { id }, body: { reason } })}
    />
  );
}

export function ResolveAction({ id, operation }: OfDelivery) {
  return (
    <Action
      right="operate"
      label="Resolve"
      title={`Resolve the ${operation} by hand`}
      subject={id}
      about="It is never sent again. Do this only when the wallet's own books say what the service believes."
      reason="required"
      tone="danger"
      run={(reason) =>
        call('POST /admin/deliveries/:id/resolve', {
          path: { id },
          body: { by: 'console', reason },
        })
      }
    />
  );
}
