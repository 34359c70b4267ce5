import {
  type FormEvent,
  type MouseEvent,
  type ReactNode,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { mayDo, PERSON_ROLES, type Right } from '../../domain/caller.ts';
import { AnswerError } from '../api/call.ts';
import { refreshAll, useLive } from '../api/queries.ts';
import { Panel } from './dialog.tsx';
import { isSessionOver, keepReason, takeReason } from './kept-reason.ts';
import { reportLeftBehind, Why } from './left-behind.tsx';

interface ActionProps {
  /** The button's text: `Retry`. */
  readonly label: string;
  readonly title: string;
  /** What it changes, if neither the title nor the page says so: what was typed for one is not offered for another. */
  readonly subject?: string;
  readonly about: ReactNode;
  /** Whether a reason is asked for, and whether it is required. */
  readonly reason: 'none' | 'optional' | 'required';
  readonly tone?: 'plain' | 'main' | 'danger';
  /**
   * The right that the action needs. Without it the button only opens a window that names the roles that have it.
   */
  readonly right: Right;
  /** Rejects if the action was not done; undefined stands for no reason. */
  readonly run: (reason: string | undefined) => Promise<unknown>;
  /** Whether what is on the page is asked for anew afterwards; default true. */
  readonly refreshes?: boolean;
  readonly children?: ReactNode;
}

type Running = 'idle' | 'running' | Error;

/** A button that first says what it will do, may ask for a reason, and says if it failed. */
export function Action(props: ActionProps) {
  const { label, title, about, right, tone = 'plain' } = props;
  const { data: me } = useLive('GET /admin/me', { everyMs: false });
  const isAllowed = me?.rights.includes(right) === true;
  const { isOpen, open, close, ...form } = useWindow(props, isAllowed ? me.actor : undefined);
  return (
    <>
      <button
        type="button"
        className={tone}
        disabled={me === undefined}
        // Not `disabled`: keyboard users could not find out why.
        aria-disabled={!isAllowed}
        onClick={open}
      >
        {label}
      </button>
      <Panel title={title} about={about} isOpen={isOpen} onClose={close}>
        {isAllowed ? (
          <ActionForm {...props} {...form} close={close} />
        ) : (
          <Forbidden role={me?.role} right={right} onClose={close} />
        )}
      </Panel>
    </>
  );
}

/** The window of an action. @param actor who may do it; undefined if it only says who may */
function useWindow(
  { title, subject, run, refreshes = true }: ActionProps,
  actor: string | undefined,
) {
  const [isOpen, setOpen] = useState(false);
  const [text, onText] = useState('');
  const [state, setState] = useState<Running>('idle');
  const isHere = useIsHere();
  const openedAt = useRef('');
  useWhenTakenAway(() => {
    const isLeft = window.location.href !== openedAt.current;
    if (!isOpen || state === 'running' || actor === undefined || isLeft) return;
    if (isSessionOver()) keepReason({ actor, title, subject }, text);
    else if (state instanceof Error) reportLeftBehind({ title, error: state });
    else reportLeftBehind({ title, typed: text.trim() });
  });
  const open = () => {
    openedAt.current = window.location.href;
    if (actor !== undefined && text === '') onText(takeReason({ actor, title, subject }));
    setOpen(true);
  };
  const start = () => {
    setState('running');
    const runAndRefresh = async () => {
      await run(text.trim() || undefined);
      if (refreshes) await refreshAll();
    };
    runAndRefresh().then(
      () => {
        setOpen(false);
        onText('');
        setState('idle');
      },
      (reason: unknown) => {
        const error = reason instanceof Error ? reason : new Error(String(reason));
        if (!isHere.current) reportLeftBehind({ title, error });
        // Somebody signed in anew in another tab, in another role: the page still shows the one before.
        if (error instanceof AnswerError && error.status === 403) void refreshAll();
        // Even if the window was closed meanwhile: nobody must believe that a failed action was done.
        setOpen(true);
        setState(error);
      },
    );
  };
  const close = () => {
    setOpen(false);
    if (state === 'running') return;
    onText('');
    setState('idle');
  };
  return { isOpen, open, close, start, state, text, onText };
}

/** Whether the component is still on the page: after moving on to another page nobody sees its windows. */
export function useIsHere() {
  const isHere = useRef(true);
  useEffect(() => {
    isHere.current = true;
    return () => {
      isHere.current = false;
    };
  }, []);
  return isHere;
}

/** Runs when this is taken from the page, with what was last shown. */
function useWhenTakenAway(run: () => void): void {
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  useEffect(() => () => latest.current(), []);
}

interface ForbiddenProps {
  readonly role: string | undefined;
  readonly right: Right;
  readonly onClose: () => void;
}

function Forbidden({ role, right, onClose }: ForbiddenProps) {
  const able = PERSON_ROLES.filter((one) => mayDo({ role: one }, right)).join(' or ');
  return (
    <>
      <p>
        Not for the role {role}. Ask somebody with the role {able}.
      </p>
      <div className="buttons">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </>
  );
}

/** The second click of a double click on the opening button must not confirm: nobody has read the window yet. */
function ofItsOwn(event: MouseEvent): void {
  if (event.detail > 1) event.preventDefault();
}

interface ActionFormProps extends ActionProps {
  readonly state: Running;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly start: () => void;
  readonly close: () => void;
}

function ActionForm(props: ActionFormProps) {
  const { label, reason, tone = 'main', state, text, onText, start, close, children } = props;
  const id = useId();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    start();
  };
  const isRunning = state === 'running';
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
            onChange={(event) => onText(event.target.value)}
            readOnly={isRunning}
          />
        </div>
      )}
      {state instanceof Error && (
        <p className="notice bad" role="alert">
          <Why error={state} />
        </p>
      )}
      {isRunning && <p role="status">Under way. Closing this window does not stop it.</p>}
      <div className="buttons">
        <button type="button" onClick={close}>
          {isRunning ? 'Close' : 'Cancel'}
        </button>
        <button
          type="submit"
          className={tone === 'danger' ? 'danger' : 'main'}
          disabled={isRunning}
          onClick={ofItsOwn}
        >
          {isRunning ? 'Working…' : label}
        </button>
      </div>
    </form>
  );
}
