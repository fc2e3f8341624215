// Registers the elements of the page.

import { AppElement } from './elements/app.js';
import { FileImportElement } from './elements/file-import.js';
import { FilterBarElement } from './elements/filter-bar.js';
import { FindingCardElement } from './elements/finding-card.js';
import { FrameDetailElement } from './elements/frame-detail.js';
import { FrameListElement } from './elements/frame-list.js';
import { JsonTreeElement } from './elements/json-tree.js';
import { OverviewStripElement } from './elements/overview-strip.js';
import { ProblemListElement } from './elements/problem-list.js';
import { RawViewElement } from './elements/raw-view.js';
import { CallAnswerElement } from './elements/speak/call-answer.js';
import { CallListElement } from './elements/speak/call-list.js';
import { ComposerElement } from './elements/speak/composer.js';
import { ConnectBarElement } from './elements/speak/connect-bar.js';
import { OfferListElement } from './elements/speak/offer-list.js';
import { QuestionCardElement } from './elements/speak/question-card.js';
import { SpeakViewElement } from './elements/speak/speak-view.js';
import { SessionViewElement } from './elements/session-view.js';

customElements.define('plumb-raw-view', RawViewElement);
customElements.define('plumb-json-tree', JsonTreeElement);
customElements.define('plumb-finding-card', FindingCardElement);
customElements.define('plumb-overview-strip', OverviewStripElement);
customElements.define('plumb-frame-list', FrameListElement);
customElements.define('plumb-frame-detail', FrameDetailElement);
customElements.define('plumb-problem-list', ProblemListElement);
customElements.define('plumb-session-view', SessionViewElement);
customElements.define('plumb-file-import', FileImportElement);
customElements.define('plumb-filter-bar', FilterBarElement);
customElements.define('plumb-connect-bar', ConnectBarElement);
customElements.define('plumb-offer-list', OfferListElement);
customElements.define('plumb-composer', ComposerElement);
customElements.define('plumb-call-list', CallListElement);
customElements.define('plumb-call-answer', CallAnswerElement);
customElements.define('plumb-question-card', QuestionCardElement);
customElements.define('plumb-speak-view', SpeakViewElement);
customElements.define('plumb-app', AppElement);
