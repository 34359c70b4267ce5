import { useNavigate } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { call } from '../../api/call.ts';
import { useLive } from '../../api/queries.ts';
import { Action } from '../../parts/action.tsx';

type Which = Readonly<Record<'operator' | 'from' | 'to' | 'columns', string>>;

/** Uploads a list of an operator's bets for comparison with the journal. */
export function Upload() {
  const navigate = useNavigate();
  const [which, setWhich] = useState<Which>({ operator: '', from: '', to: '', columns: '' });
  const [file, setFile] = useState<File | undefined>();
  const id = useId();
  return (
    <Action
      right="books"
      label="Compare a list"
      tone="main"
      title="Compare a list with the journal"
      about="CSV or one JSON object per line, gzipped or not. Columns that the list does not have are not compared."
      reason="none"
      run={async () => {
        if (file === undefined) throw new Error('no file is chosen');
        const made = await call('POST /admin/reconciliations', { query: which, file });
        await navigate({ to: '/reconciliations/$id', params: { id: made.id } });
      }}
    >
      <WhichFields which={which} onChange={setWhich} />
      <div className="field">
        <label htmlFor={`${id}-file`}>The list</label>
        <input
          id={`${id}-file`}
          type="file"
          onChange={({ target }) => setFile(target.files?.[0])}
          required
        />
      </div>
    </Action>
  );
}

interface WhichFieldsProps {
  readonly which: Which;
  readonly onChange: (which: Which) => void;
}

/** The operator and days that the list covers, and the names of its columns. */
function WhichFields({ which, onChange }: WhichFieldsProps) {
  const operators = useLive('GET /admin/operators', { everyMs: false });
  const ids = operators.data?.items.map(({ id }) => id) ?? [];
  const set = (name: keyof Which) => (event: { target: { value: string } }) =>
    onChange({ ...which, [name]: event.target.value });
  const id = useId();
  return (
    <>
      <div className="field">
        <label htmlFor={`${id}-operator`}>Operator</label>
        <select id={`${id}-operator`} value={which.operator} onChange={set('operator')} required>
          <option value="">Choose</option>
          {ids.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </div>
      <div className="field">
        <label htmlFor={`${id}-from`}>First day</label>
        <input id={`${id}-from`} type="date" value={which.from} onChange={set('from')} required />
      </div>
      <div className="field">
        <label htmlFor={`${id}-to`}>Last day</label>
        <input id={`${id}-to`} type="date" value={which.to} onChange={set('to')} required />
      </div>
      <div className="field">
        <label htmlFor={`${id}-columns`}>Names of its columns (optional)</label>
        <input
          id={`${id}-columns`}
          value={which.columns}
          onChange={set('columns')}
          placeholder="transactionId:bet_id,stake:amount"
          autoComplete="off"
        />
      </div>
    </>
  );
}
