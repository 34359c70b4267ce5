import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { AnswerError } from '../api/call.ts';
import { Plain } from './plain.tsx';

interface AnsweredProps<T> {
  readonly query: UseQueryResult<T>;
  /** The name of what is shown, for the messages in its absence: `deliveries`. */
  readonly what: string;
  readonly children: (data: T) => ReactNode;
}

/** Shows an answer, or what replaces it while it is loading or has failed. */
export function Answered<T>({ query, what, children }: AnsweredProps<T>) {
  const { data, refetch, isPending } = query;
  const error = useErrorOf(query);
  if (isPending && error === null) return <Loading what={what} />;
  return (
    <>
      {error !== null && (
        <Failure
          error={error}
          what={what}
          isOld={data !== undefined}
          again={() => void refetch()}
        />
      )}
      {data !== undefined && children(data)}
    </>
  );
}

/** Keeps the error while the query runs again: otherwise the reason would show only for a moment. */
export function useErrorOf<T>(query: UseQueryResult<T>): Error | null {
  const { data, error, failureReason, errorUpdateCount } = query;
  const [last, setLast] = useState<Error | null>(null);
  const found = error ?? (data === undefined ? failureReason : null);
  if (found !== null && found !== last) setLast(found);
  if (found !== null || data !== undefined) return found;
  // The error of an earlier query with other parameters must not be shown: this query's count is still zero.
  return errorUpdateCount > 0 ? last : null;
}

export function Loading({ what }: { readonly what: string }) {
  return (
    <div className="loading" role="status">
      <span className="sr-only">Loading {what}</span>
      <div className="bone" />
      <div className="bone" />
      <div className="bone" />
    </div>
  );
}

interface FailureProps {
  readonly error: Error;
  readonly what: string;
  /** The data on screen is from before the failure. */
  readonly isOld: boolean;
  readonly again: () => void;
}

function Failure({ error, what, isOld, again }: FailureProps) {
  return (
    <div className="notice bad" role="alert">
      <p>
        <strong>{lackOf(what, error, isOld)}</strong> <Plain text={reasonOf(error)} />
      </p>
      <button type="button" onClick={again}>
        Try again
      </button>
    </div>
  );
}

/** Only a 404 says that it does not exist: while PostgreSQL is away, nobody knows. */
function lackOf(what: string, error: Error, isOld: boolean): string {
  if (isOld) return `What you see of the ${what} is not current.`;
  const isMissing = error instanceof AnswerError && error.status === 404;
  return isMissing ? `No ${what}.` : `The ${what} cannot be shown.`;
}

/** Why a call failed, for people. */
export function reasonOf(error: Error): string {
  if (!(error instanceof AnswerError)) return 'Something in this page went wrong.';
  switch (error.status) {
    case 0:
      return error.message;
    case 401:
      return 'You are no longer signed in: sign in again.';
    case 403:
      return `Your role does not allow it: ${error.message}`;
    default:
      return `${error.message} (${error.status})`;
  }
}

export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ReactNode;
}) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children !== undefined && <div className="muted">{children}</div>}
    </div>
  );
}
