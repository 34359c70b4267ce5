import { unreachable } from '../../../domain/unreachable.ts';
import { ResolveAction, RetryAction } from '../deliveries/delivery-actions.tsx';
import type { ShownBet } from './bet.ts';
import { type NextStep, nextSteps } from './next-steps.ts';
import { ResolveResultAction } from './resolve-result.tsx';

/** What can be done about a bet now: buttons with the reason beside them, or why there are none. */
export function Steps({ bet }: { readonly bet: ShownBet }) {
  return (
    <ul className="steps">
      {nextSteps(bet).map((step) => (
        <li key={'deliveryId' in step ? step.deliveryId : step.kind}>
          <p>{step.why}</p>
          <StepButtons bet={bet} step={step} />
        </li>
      ))}
    </ul>
  );
}

function StepButtons({ bet, step }: { readonly bet: ShownBet; readonly step: NextStep }) {
  switch (step.kind) {
    case 'nothing':
      return <p className="muted">Nothing has to be done.</p>;
    case 'ask':
      return <p className="muted">The console has no button for this.</p>;
    case 'resolveResult':
      return (
        <div className="buttons start">
          <ResolveResultAction bet={bet} />
        </div>
      );
    case 'retry':
      return (
        <div className="buttons start">
          <RetryAction id={step.deliveryId} operation={step.operation} />
        </div>
      );
    case 'retryOrResolve':
      return (
        <div className="buttons start">
          <RetryAction id={step.deliveryId} operation={step.operation} />
          <ResolveAction id={step.deliveryId} operation={step.operation} />
        </div>
      );
    default:
      return unreachable(step);
  }
}
