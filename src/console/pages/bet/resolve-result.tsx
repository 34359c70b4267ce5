import { useId, useState } from 'react';
import { RESULT_TYPES } from '../../../domain/bet.ts';
import { call } from '../../api/call.ts';
import { Action } from '../../parts/action.tsx';
import { wordsOf } from '../../parts/tone.ts';
import type { ShownBet } from './bet.ts';

const HOLDS = [
  { holds: 'stake', label: 'the stake, and no result' },
  { holds: 'result', label: 'a result' },
] as const;

/** Asks what the wallet holds for a bet whose result is unknown, and records it as the bet's result. */
export function ResolveResultAction({ bet }: { readonly bet: ShownBet }) {
  const { transactionId, settlement } = bet;
  const [holds, setHolds] = useState('');
  const [typedAmount, setAmount] = useState<string | undefined>();
  const [chosenType, setResultType] = useState<string | undefined>();
  // What was sent last is the likeliest answer; it may change under an open page.
  const amount = typedAmount ?? settlement.amount ?? '';
  const resultType = chosenType ?? typeOf(settlement.resultType);
  const id = useId();
  return (
    <Action
      right="operate"
      label="Say what it holds"
      title="Say what the wallet holds"
      subject={transactionId}
      about="Nothing is sent to the wallet, and this cannot be taken back. Do it only when the wallet's own books say so: the service gets a yes if it asks for the result that you name anew, and any other result is sent."
      reason="required"
      tone="danger"
      run={async (reason) => {
        const result = holds === 'result' ? { amount: amount.trim(), resultType } : {};
        await call('POST /admin/bets/:transactionId/resolve', {
          path: { transactionId },
          body: { holds, ...result, by: 'console', reason },
        });
      }}
    >
      <div className="field">
        <label htmlFor={id}>The wallet holds</label>
        <select id={id} value={holds} onChange={({ target }) => setHolds(target.value)} required>
          <option value="">…</option>
          {HOLDS.map((one) => (
            <option key={one.holds} value={one.holds}>
              {one.label}
            </option>
          ))}
        </select>
      </div>
      {holds === 'result' && (
        <ResultFields bet={bet} {...{ amount, setAmount, resultType, setResultType }} />
      )}
    </Action>
  );
}

interface ResultFieldsProps {
  readonly bet: ShownBet;
  readonly amount: string;
  readonly setAmount: (amount: string) => void;
  readonly resultType: string;
  readonly setResultType: (resultType: string) => void;
}

function ResultFields({ bet, amount, setAmount, resultType, setResultType }: ResultFieldsProps) {
  const id = useId();
  return (
    <>
      <div className="field">
        <label htmlFor={`${id}-amount`}>Amount of the result{inCurrency(bet)}</label>
        <input
          id={`${id}-amount`}
          value={amount}
          onChange={({ target }) => setAmount(target.value)}
          inputMode="decimal"
          autoComplete="off"
          required
        />
      </div>
      <div className="field">
        <label htmlFor={`${id}-type`}>Kind of the result</label>
        <select
          id={`${id}-type`}
          value={resultType}
          onChange={({ target }) => setResultType(target.value)}
          required
        >
          <option value="">…</option>
          {RESULT_TYPES.map((type) => (
            <option key={type} value={type}>
              {wordsOf(type)}
            </option>
          ))}
        </select>
      </div>
    </>
  );
}

/** Of a lost unsettle there is none. */
function typeOf(resultType: string | null): string {
  return RESULT_TYPES.find((type) => type === resultType) ?? '';
}

function inCurrency({ currency }: ShownBet): string {
  return currency === null ? '' : ` (${currency})`;
}
