(import (scheme base))
