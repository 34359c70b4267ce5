import { Dialog } from '@base-ui/react/dialog';
import { type ReactNode, useEffect } from 'react';

interface PanelProps {
  readonly title: ReactNode;
  readonly about?: ReactNode;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Wider, for showing messages. */
  readonly isWide?: boolean;
}

/** A modal window that keeps the focus, and gives it back when it closes. */
export function Panel({ title, about, isOpen, onClose, children, isWide = false }: PanelProps) {
  useFocusAfter(isOpen);
  return (
    <Dialog.Root
      open={isOpen}
      onOpenChange={(open, { event }) => {
        if (!open && !isSecondClick(event)) onClose();
      }}
    >
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className={isWide ? 'panel wide' : 'panel'}>
          <header className="panel-head">
            <Dialog.Title className="panel-title">{title}</Dialog.Title>
            <Dialog.Close className="quiet-button" aria-label="Close">
              ✕
            </Dialog.Close>
          </header>
          {about !== undefined && (
            <Dialog.Description className="muted">{about}</Dialog.Description>
          )}
          {children}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Of a double click on the opening button: it would close the window before anybody has seen it. */
function isSecondClick(event: Event): boolean {
  return event instanceof MouseEvent && event.detail > 1;
}

/** What opened a window may be gone when it closes, such as a button whose action is done. */
function useFocusAfter(isOpen: boolean): void {
  useEffect(() => {
    if (!isOpen) return;
    return () => {
      window.setTimeout(() => {
        if (document.activeElement !== document.body) return;
        document.getElementById('main')?.focus({ preventScroll: true });
      });
    };
  }, [isOpen]);
}
