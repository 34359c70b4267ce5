import { type FormEvent, type ReactNode, useId, useState } from 'react';
import type { Right } from '../../domain/caller.ts';
import { useLive } from '../api/queries.ts';
import { reasonOf } from './answered.tsx';
import { Panel } from './dialog.tsx';
import { Plain } from './plain.tsx';

interface ActionProps {
  /** Of the button: `Retry`. */
  readonly label: string;
  readonly title: string;
  readonly about: ReactNode;
  /** Whether a reason is asked for, and must be given. */
  readonly reason: 'none' | 'optional' | 'required';
  readonly tone?: 'plain' | 'main' | 'danger';
  /** What the role must allow; without it the button says so and does nothing. */
  readonly right: Right;
  /** Rejects where it was not done. */
  readonly run: (reason: string) => Promise<unknown>;
  readonly children?: ReactNode;
}

/** A button that says first what it will do, asks why, and tells when it could not. */
export function Action(props: ActionProps) {
  const { label, title, about, right, tone = 'plain' } = props;
  const { data: me } = useLive('GET /admin/me', { everyMs: false });
  const isAllowed = me?.rights.includes(right) === true;
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className={tone}
        disabled={!isAllowed}
        title={isAllowed ? undefined : `Not for the role ${me?.role ?? 'that is not known yet'}`}
        onClick={() => setOpen(true)}
      >
        {label}
      </button>
      <Panel title={title} about={about} isOpen={isOpen} onClose={() => setOpen(false)}>
        <ActionForm {...props} close={() => setOpen(false)} />
      </Panel>
    </>
  );
}

function ActionForm({
  label,
  reason,
  tone = 'main',
  run,
  close,
  children,
}: ActionProps & { readonly close: () => void }) {
  const [text, setText] = useState('');
  const [state, setState] = useState<'idle' | 'running' | Error>('idle');
  const id = useId();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setState('running');
    run(text.trim()).then(close, (error: unknown) =>
      setState(error instanceof Error ? error : new Error(String(error))),
    );
  };
  return (
    <form onSubmit={submit} className="action-form">
      {children}
      {reason !== 'none' && (
        <div className="field">
          <label htmlFor={id}>Reason{reason === 'optional' ? ' (optional)' : ''}</label>
          <textarea
            id={id}
            rows={2}
            maxLength={2000}
            required={reason === 'required'}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </div>
      )}
      {state instanceof Error && (
        <p className="notice bad" role="alert">
          <Plain text={reasonOf(state)} />
        </p>
      )}
      <div className="buttons">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button
          type="submit"
          className={tone === 'danger' ? 'danger' : 'main'}
          disabled={state === 'running'}
        >
          {state === 'running' ? 'Working…' : label}
        </button>
      </div>
    </form>
  );
}
