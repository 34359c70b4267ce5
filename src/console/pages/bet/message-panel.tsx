import { useState } from 'react';
import { Time } from '../../parts/clock.tsx';
import { CopyButton } from '../../parts/copyable.tsx';
import { Panel } from '../../parts/dialog.tsx';
import { indentedJson } from '../../parts/exact-json.ts';
import { Plain } from '../../parts/plain.tsx';
import { curlOf } from './curl.ts';
import type { Message } from './sequence.ts';

interface MessagePanelProps {
  readonly message: Message | undefined;
  readonly onClose: () => void;
}

/** One message as it was sent. */
export function MessagePanel({ message, onClose }: MessagePanelProps) {
  const title = message === undefined ? '' : `${message.from} → ${message.to}`;
  return (
    <Panel
      isWide
      title={title}
      about={message === undefined ? undefined : <Plain text={message.about} />}
      isOpen={message !== undefined}
      onClose={onClose}
    >
      {message !== undefined && <MessageBody message={message} />}
    </Panel>
  );
}

function MessageBody({ message }: { readonly message: Message }) {
  const { at, body, truncated } = message;
  const [isRaw, setRaw] = useState(false);
  const curl = curlOf(message);
  return (
    <>
      <p className="muted">
        <Time at={at} />
      </p>
      {body === null ? (
        <p>No text was kept.</p>
      ) : (
        <>
          <div className="buttons start">
            <label className="check">
              <input
                type="checkbox"
                checked={isRaw}
                onChange={({ target }) => setRaw(target.checked)}
              />
              Exactly as sent
            </label>
            <CopyButton text={body} label="Copy the message" />
          </div>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys */}
          <pre className="message" tabIndex={0}>
            <Plain text={isRaw ? body : indentedJson(body)} />
          </pre>
          {truncated && <p className="muted">More came than is shown.</p>}
        </>
      )}
      {curl !== undefined && (
        <>
          <h3>
            As a command <CopyButton text={curl} label="Copy as curl" />
          </h3>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys */}
          <pre className="message" tabIndex={0}>
            <Plain text={curl} />
          </pre>
          <p className="muted">
            The signature and the token are left out: whoever holds the secret sets{' '}
            <code>SIGNATURE</code> and puts a token in place of <code>***</code>.
            {message.to === 'wallet' &&
              ' A path or headers of the wallet’s own (wallet.dialect) are left out too.'}
          </p>
        </>
      )}
    </>
  );
}
